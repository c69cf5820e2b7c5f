"""Whether a call binds: our answer is Python's own."""

from __future__ import annotations

import inspect

from hypothesis import given
from hypothesis import strategies as st

from sglang_contracts.surface.model import Parameter, ParameterKind
from sglang_contracts.verify.values.signature_fit import Shape, misfit, text

NAMES = ["a", "b", "c", "d", "e"]


@st.composite
def signatures(draw: st.DrawFn) -> tuple[Parameter, ...]:
    """Valid parameter lists."""
    count = draw(st.integers(0, 5))
    kinds = sorted(draw(st.lists(st.sampled_from([0, 1, 3]), min_size=count, max_size=count)))
    found: list[Parameter] = []
    defaulted = False
    for name, kind in zip(NAMES, kinds, strict=False):
        default = draw(st.booleans())
        if kind < 3:
            defaulted = default = default or defaulted
        found.append(Parameter(name, ParameterKind(kind), "", "0" if default else ""))
    if draw(st.booleans()):
        place = sum(each.kind < 3 for each in found)
        found.insert(place, Parameter("args", ParameterKind.VAR_POSITIONAL))
    if draw(st.booleans()):
        found.append(Parameter("kwargs", ParameterKind.VAR_KEYWORD))
    return tuple(found)


def _binds(parameters: tuple[Parameter, ...], positional: int, keywords: set[str]) -> bool:
    made = inspect.Signature(
        [
            inspect.Parameter(
                each.name,
                inspect._ParameterKind(int(each.kind)),
                default=0 if each.default else inspect.Parameter.empty,
            )
            for each in parameters
        ]
    )
    try:
        made.bind(*range(positional), **dict.fromkeys(keywords, 0))
    except TypeError:
        return False
    return True


@given(signatures(), st.integers(0, 6), st.sets(st.sampled_from([*NAMES, "other"])))
def test_a_plain_call_fits_exactly_where_python_binds_it(
    parameters: tuple[Parameter, ...], positional: int, keywords: set[str]
) -> None:
    ours = misfit(parameters, Shape(positional, tuple(sorted(keywords)))) is None
    theirs = _binds(parameters, positional, keywords)
    assert ours or not theirs  # never blame a call that binds
    doubled = {p.name for p in parameters if p.kind == 0} & keywords
    if not doubled and not any(p.kind == 4 for p in parameters):
        assert ours == theirs


@given(signatures(), st.integers(0, 3))
def test_stars_in_a_call_give_it_the_benefit_of_the_doubt(
    parameters: tuple[Parameter, ...], positional: int
) -> None:
    found = misfit(parameters, Shape(positional, (), star=True, double_star=True))
    assert found is None or found.what in ("too-many", "keyword-only")


def test_a_signature_reads_as_it_is_written() -> None:
    parameters = (
        Parameter("a"),
        Parameter("b", default="1"),
        Parameter("c", ParameterKind.KEYWORD_ONLY, default="None"),
        Parameter("k", ParameterKind.VAR_KEYWORD),
    )
    assert text("f", parameters) == "f(a, b=1, *, c=None, **k)"
