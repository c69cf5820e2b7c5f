from sglang_contracts.contract.signature import names, signature
from sglang_contracts.surface.model import Function, Parameter, ParameterKind, Role


def test_the_canonical_text_has_every_marker():
    function = Function(
        parameters=(
            Parameter("self", ParameterKind.POSITIONAL_ONLY),
            Parameter("a", ParameterKind.POSITIONAL_ONLY),
            Parameter("b", default="1"),
            Parameter("c", ParameterKind.KEYWORD_ONLY),
            Parameter("d", ParameterKind.KEYWORD_ONLY, default="None"),
            Parameter("kwargs", ParameterKind.VAR_KEYWORD),
        )
    )
    text = signature(function, member=True)
    assert text == ("a", "/", "b=", "*", "c", "d=", "**kwargs")
    assert names(text) == ("a", "b", "c", "d", "kwargs")


def test_varargs_stand_for_the_star():
    function = Function(
        parameters=(
            Parameter("args", ParameterKind.VAR_POSITIONAL),
            Parameter("x", ParameterKind.KEYWORD_ONLY),
        )
    )
    assert signature(function, member=False) == ("*args", "x")


def test_a_static_method_keeps_its_first_parameter():
    function = Function(parameters=(Parameter("a"),), role=Role.STATIC)
    assert signature(function, member=True) == ("a",)
    assert signature(Function(parameters=(Parameter("a"),)), member=True) == ()


def test_a_trailing_slash_is_written():
    function = Function(parameters=(Parameter("a", ParameterKind.POSITIONAL_ONLY),))
    assert signature(function, member=False) == ("a", "/")
