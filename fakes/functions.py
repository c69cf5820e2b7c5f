"""Functions with a recorded signature, and what they do when called."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes import behaviour
from sglang_contracts.fakes.errors import FakeError, WrongCallError
from sglang_contracts.fakes.values import NoValueError, Unknown

from sglang_contracts.surface.model import Function, Parameter, ParameterKind, Role

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

Body = Callable[[Any, dict[str, Any]], Any]
"""Takes ``self`` (None for a plain function) and the other arguments by name."""

_ONLY_RAISES = Role.UNIMPLEMENTED | Role.RETIRED
"""What a release records as nothing but a raise is that, whatever other releases make of it."""

_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


def make_function(fake: Fake, module: str, qual: str, node: Function) -> Callable[..., Any]:
    """A module-level function: recorded signature, and a behaviour if it has one."""
    chosen = behaviour.FUNCTIONS.get((module, qual))
    if chosen is None or node.role & _ONLY_RAISES:
        body = _without_behaviour(fake, module, qual, node)
    else:
        attached = chosen

        def body(_: Any, given: dict[str, Any]) -> Any:
            return attached(fake, given)

    return build(fake, module, qual, node.parameters, body, bound=False)


def make_method(fake: Fake, module: str, qual: str, node: Function) -> Any:
    """A method as it stands in a class's namespace: static, class, property or plain."""
    owner, _, name = qual.rpartition(".")
    chosen = behaviour.METHODS.get((owner, name)) if module.startswith("sglang.srt.") else None
    if chosen is None or node.role & _ONLY_RAISES:
        body = _without_behaviour(fake, module, qual, node)
    else:
        attached = chosen

        def body(held: Any, given: dict[str, Any]) -> Any:
            return attached(fake, held, given)

    static = bool(node.role & Role.STATIC)
    made = build(fake, module, qual, node.parameters, body, bound=not static)
    if node.role & Role.PROPERTY:
        return property(made, _setter(fake, module, qual) if node.role & Role.SETTER else None)
    if static:
        return staticmethod(made)
    return classmethod(made) if node.role & Role.CLASS else made


def build(
    fake: Fake,
    module: str,
    qual: str,
    parameters: tuple[Parameter, ...],
    body: Body,
    *,
    bound: bool,
) -> Callable[..., Any]:
    """A function with those parameters, so that Python itself checks the call.

    Args:
        fake: The release.
        module: Where it is defined.
        qual: Its qualified name.
        parameters: All of them, ``self`` included.
        body: What it does.
        bound: Whether the first parameter is ``self`` or ``cls``.
    """
    names: dict[str, Any] = {"_body_": body}
    header: list[str] = []
    kinds = [each.kind for each in parameters]
    defaulted = False
    for index, each in enumerate(parameters):
        if each.kind == ParameterKind.KEYWORD_ONLY and not (
            ParameterKind.VAR_POSITIONAL in kinds or ParameterKind.KEYWORD_ONLY in kinds[:index]
        ):
            header.append("*")
        stars = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}
        text = stars.get(each.kind, "") + each.name
        positional = each.kind in (ParameterKind.POSITIONAL, ParameterKind.POSITIONAL_ONLY)
        # A synthesised constructor may inherit required fields after defaulted ones.
        if each.default or (defaulted and positional):
            names[f"_d{index}_"] = _default(fake, module, qual, each)
            text += f"=_d{index}_"
            defaulted = defaulted or positional
        header.append(text)
        if each.kind == ParameterKind.POSITIONAL_ONLY and (
            kinds[index + 1 : index + 2] != [ParameterKind.POSITIONAL_ONLY]
        ):
            header.append("/")
    first = parameters[0].name if bound and parameters else "None"
    rest = parameters[1:] if bound else parameters
    given = ", ".join(f"{each.name!r}: {each.name}" for each in rest)
    name = qual.rpartition(".")[2]
    source = f"def _made_({', '.join(header)}):\n    return _body_({first}, {{{given}}})\n"
    # The text holds nothing but parameter names that the recorder read as identifiers.
    exec(compile(source, f"<fake of {module}:{qual}>", "exec"), names)  # noqa: S102
    made: Callable[..., Any] = names["_made_"]
    made.__name__, made.__qualname__, made.__module__ = name, qual, module
    made.__annotations__ = {each.name: each.annotation for each in parameters if each.annotation}
    return explained(fake, module, qual, made)


def explained(fake: Fake, module: str, qual: str, made: Callable[..., Any]) -> Callable[..., Any]:
    """``made``, with a call that does not fit its signature said in terms of releases."""

    @functools.wraps(made)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return made(*args, **kwargs)
        except TypeError as error:
            # Raised by the call itself, not from inside of what was called.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            unexpected = _UNEXPECTED.search(str(error))
            spelling = f"{module}:{qual}" + (f"({unexpected.group(1)})" if unexpected else "")
            tell = functools.partial(_of_a_call, fake, spelling, bool(unexpected))
            raise WrongCallError(str(error), tell) from None

    return call


def _of_a_call(fake: Fake, spelling: str, unexpected: bool) -> str:
    from sglang_contracts.surface.spelling import look_up

    called, _, parameter = spelling.rstrip(")").partition("(")
    found = look_up(fake.surface, called)
    if found is not None:
        form = f"in SGLang {fake.release} it is {found.form}"
        return f"{form}; {fake.advise(spelling)}" if unexpected else form
    # A constructor made from fields: each of its parameters is the field.
    owner = called.rpartition(".")[0]
    return fake.advise(f"{owner}.{parameter}") if unexpected else ""


def _default(fake: Fake, module: str, qual: str, each: Parameter) -> Any:
    if not each.default:
        return None
    try:
        return fake.evaluate(module, each.default)
    except NoValueError:
        return Unknown(f"{module}:{qual}({each.name})", fake.release, each.default)


def _setter(fake: Fake, module: str, qual: str) -> Callable[[Any, Any], None]:
    def refuse(_: Any, __: Any) -> None:
        raise FakeError(f"{module}:{qual}", fake.release, "setting it does nothing")

    return refuse


def _without_behaviour(fake: Fake, module: str, qual: str, node: Function) -> Body:
    """What the record alone tells: not implemented, empty, retired, one line; else only a shape."""
    symbol = f"{module}:{qual}"
    owner, _, name = qual.rpartition(".")
    if node.role & Role.UNIMPLEMENTED:

        def unimplemented(_: Any, __: dict[str, Any]) -> Any:
            raise NotImplementedError(f"{symbol} is for a subclass to provide")

        return unimplemented
    if node.role & Role.RETIRED:

        def retired(_: Any, __: dict[str, Any]) -> Any:
            raise RuntimeError(node.message or f"{symbol} is retired in {fake.release}")

        return retired
    if node.role & Role.EMPTY:
        return lambda _, __: None
    if name == "__init__" and owner in behaviour.BY_RECORD:

        def initialise(held: Any, given: dict[str, Any]) -> None:
            fake.initialise(held, module, owner, given)

        return initialise
    if owner in behaviour.BY_RESULT and node.result:
        own = node.parameters[0].name if node.parameters else "self"

        def result(held: Any, given: dict[str, Any]) -> Any:
            try:
                return fake.evaluate(module, node.result, {own: held, **given})
            except NoValueError:
                raise FakeError(symbol, fake.release) from None

        return result

    def shape_only(_: Any, __: dict[str, Any]) -> Any:
        raise FakeError(symbol, fake.release)

    return shape_only
