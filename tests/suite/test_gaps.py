"""A gap of a fake is not the vendor's failure, and odd exceptions are."""

import contextlib

import pytest

torch = pytest.importorskip("torch")

from sglang_contracts.fakes.gaps import gap  # noqa: E402

from sglang_contracts import fakes  # noqa: E402
from sglang_contracts.live import differences  # noqa: E402
from sglang_contracts.suite.capabilities import parse  # noqa: E402
from sglang_contracts.suite.context import Context  # noqa: E402
from sglang_contracts.suite.engine import run_check  # noqa: E402
from sglang_contracts.suite.profile import PROFILES  # noqa: E402
from sglang_contracts.suite.registry import Check  # noqa: E402
from sglang_contracts.suite.subject import Subject  # noqa: E402
from sglang_contracts.suite.violation import Inapplicable, Violation, ask  # noqa: E402


@pytest.fixture
def fake():
    with fakes.install("0.5.16") as placed:
        yield placed.fake


@pytest.fixture
def outcome():
    """What comes of a check that asks a plugin's function."""
    subject = Subject("acme", parse({"modes": ["extend"]}))
    context = Context(subject, "0.5.16", PROFILES["quick"])

    def run(function):
        check = Check("family.what-must-hold", 2, "It holds", lambda _: ask("forward", function))
        return run_check(check, context)

    return run


def shape_only():
    from sglang.srt.utils import kill_process_tree

    kill_process_tree(0)


def not_set():
    from sglang.srt.mem_cache.memory_pool import MambaPool

    return MambaPool.__new__(MambaPool).memory_saver_adapter


def wrapped():
    try:
        shape_only()
    except Exception as error:
        raise RuntimeError("could not clean up") from error


def caught():
    with contextlib.suppress(Exception):
        shape_only()
    raise KeyError("seq_lens")


def absent():
    from sglang.srt.utils import never_was_there  # noqa: F401


@pytest.mark.parametrize(
    ("plugin", "lacking"),
    [
        (shape_only, "has only the shape of sglang.srt.utils.common:kill_process_tree"),
        (not_set, "does not set sglang.srt.mem_cache.memory_pool:MambaPool.memory_saver_adapter"),
        (wrapped, "has only the shape of sglang.srt.utils.common:kill_process_tree"),
    ],
)
def test_what_a_fake_lacks_leaves_it_unknown_and_says_where_to_try(fake, outcome, plugin, lacking):
    found = outcome(plugin)
    assert (found.outcome, found.crash) == ("error", False)
    assert found.cause == f"the fake of SGLang 0.5.16 {lacking}"
    assert "python -m pip install 'sglang==0.5.16'" in found.message
    assert "sglang-contracts certify acme --sglang 0.5.16" in found.message


@pytest.mark.parametrize("plugin", [caught, absent])
def test_what_the_plugin_does_wrong_beside_a_gap_is_its_failure(fake, outcome, plugin):
    found = outcome(plugin)
    assert (found.outcome, found.crash) == ("fail", True)
    assert "test_gaps.py:" in found.cause


def test_an_error_that_names_itself_as_its_cause_is_looked_through_once():
    error = ValueError("a")
    other = ValueError("b")
    error.__cause__, other.__cause__ = other, error
    assert gap(error) == ""


def clash():
    torch.testing()


def test_a_name_clash_is_told_as_the_vendors_line(outcome):
    found = outcome(clash)
    line = clash.__code__.co_firstlineno + 1
    assert f"at suite/test_gaps.py:{line} in clash" in found.message
    assert "a module stands where that line calls a function" in found.message


def inside_torch():
    torch.ones(2) @ torch.ones(3)


def inside_torch_python():
    torch.nn.functional.one_hot(torch.ones(2), "many")
    torch.nn.functional.softmax("no tensor", 0)


@pytest.mark.parametrize("plugin", [inside_torch, inside_torch_python])
def test_where_torch_raises_the_vendors_line_is_told(outcome, plugin):
    assert f"in {plugin.__name__}" in outcome(plugin).cause


class UnreadableError(Exception):
    __str__ = None


class OfItsOwn(BaseException):
    pass


def odd():
    import hypothesis.errors

    yield from (MemoryError(), RecursionError("deep"), GeneratorExit(), StopIteration(1))
    yield from (SystemExit(0), SystemExit(None), KeyboardInterrupt(), OfItsOwn(), UnreadableError())
    yield from (
        pytest.skip.Exception("no card"),
        pytest.fail.Exception("no"),
        pytest.exit.Exception("x"),
    )
    yield from (hypothesis.errors.UnsatisfiedAssumption(), hypothesis.errors.StopTest(0))
    yield from (Inapplicable("it does not apply"), Violation("no"), pytest.UsageError("no"))
    yield from (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"), OSError(5, "io"), Warning("w"))


@pytest.mark.parametrize("error", list(odd()), ids=lambda each: type(each).__name__)
def test_whatever_a_plugin_raises_is_its_failure_and_nothing_else(outcome, monkeypatch, error):
    import signal

    monkeypatch.setattr(signal, "getsignal", lambda _: None)  # as in a run: nobody at a keyboard

    def plugin():
        raise error

    found = outcome(plugin)
    assert (found.outcome, found.crash) == ("fail", True)
    assert type(error).__name__ in found.message
    assert "test_gaps.py" in found.cause


def test_an_import_error_inside_of_a_module_that_is_there_is_passed_on(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "core_a.py").write_text("from core_b import nothing\n")
    (tmp_path / "core_b.py").write_text("")
    (tmp_path / "core_c.py").write_text("import not_installed_anywhere\n")
    (tmp_path / "core_d.py").write_text("Pool = 5\n")
    with pytest.raises(ImportError, match="cannot import name 'nothing' from 'core_b'"):
        differences.symbol("core_a:Pool", "core_d:Pool")
    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere"):
        differences.symbol("core_c:Pool", "core_d:Pool")
    assert differences.symbol("core_nowhere:Pool", "core_b:Pool", "core_d:Pool") == 5
    with pytest.raises(ImportError, match="has none of core_b:Pool"):
        differences.symbol("core_b:Pool")
