"""What is there is never missing: each way a release makes a name exist, as a fixture."""

from __future__ import annotations

import pytest

from sglang_contracts.surface.model import Kind, ParameterKind

BASE = {"__init__.py": ""}

THERE = {
    "a module in a folder without __init__": (
        {"srt/mem/pool.py": "x = 1"},
        "sglang.srt.mem:pool.x",
    ),
    "a namespace package itself": ({"srt/mem/pool.py": "x = 1"}, "sglang.srt.mem"),
    "a lazy name compared with": (
        {
            "srt/platforms/__init__.py": """
            def __getattr__(name):
                if name == "current_platform":
                    return object()
                raise AttributeError(name)
            """
        },
        "sglang.srt.platforms:current_platform",
    ),
    "a lazy name from a table": (
        {
            "srt/lazy.py": """
            import importlib
            _TABLE = {"Parser": "sglang.srt.parser"}
            def __getattr__(name):
                module = _TABLE.get(name)
                if module is None:
                    raise AttributeError(name)
                return getattr(importlib.import_module(module), name)
            """,
            "srt/parser.py": "class Parser:\n    def parse(self): ...",
        },
        "sglang.srt.lazy:Parser.parse",
    ),
    "a lazily imported entry point": (
        {
            "__init__.py": 'Engine = LazyImport("sglang.srt.engine", "Engine")',
            "srt/engine.py": "class Engine:\n    def generate(self): ...",
        },
        "sglang:Engine.generate",
    ),
    "a re-export": (
        {"srt/a.py": "from sglang.srt.b import f", "srt/b.py": "def f(): ..."},
        "sglang.srt.a:f",
    ),
    "a relative re-export from a package": (
        {"srt/p/__init__.py": "from .b import f as g", "srt/p/b.py": "def f(): ..."},
        "sglang.srt.p:g",
    ),
    "a star re-export": (
        {"srt/a.py": "from sglang.srt.b import *", "srt/b.py": "def f(): ..."},
        "sglang.srt.a:f",
    ),
    "a star re-export of what __all__ names": (
        {
            "srt/a.py": "from sglang.srt.b import *",
            "srt/b.py": "__all__ = ['f']\n__all__ += ['_g']\ndef f(): ...\ndef _g(): ...",
        },
        "sglang.srt.a:_g",
    ),
    "a module that replaces itself": (
        {
            "srt/old.py": """
            import sys
            from sglang.srt import new
            sys.modules[__name__] = new
            """,
            "srt/new.py": "def f(): ...",
        },
        "sglang.srt.old:f",
    ),
    "a function defined under a condition": (
        {"srt/a.py": "import os\nif os.name:\n    def f(): ...\nelse:\n    def f(x): ..."},
        "sglang.srt.a:f",
    ),
    "an import that may fail": (
        {"srt/a.py": "try:\n    from fast import f\nexcept ImportError:\n    f = None"},
        "sglang.srt.a:f",
    ),
    "an alias of a class": (
        {"srt/a.py": "class New:\n    def m(self): ...\nOld = New"},
        "sglang.srt.a:Old.m",
    ),
    "an attribute set in __init__": (
        {"srt/a.py": "class C:\n    def __init__(self):\n        self.x = 1"},
        "sglang.srt.a:C.x",
    ),
    "an attribute set in another method, in a branch": (
        {
            "srt/a.py": "class C:\n    def start(self):\n        if 1:\n"
            "            self.x, self.y = 1, 2"
        },
        "sglang.srt.a:C.y",
    ),
    "an attribute set by a mixin of another module": (
        {
            "srt/a.py": "from sglang.srt.m import Mixin\nclass C(Mixin): ...",
            "srt/m.py": "class Mixin:\n    def start(self):\n        self.x = 1",
        },
        "sglang.srt.a:C.x",
    ),
    "an attribute set by name": (
        {"srt/a.py": "class C:\n    def f(self):\n        setattr(self, 'x', 1)"},
        "sglang.srt.a:C.x",
    ),
    "a buffer that torch registers": (
        {"srt/a.py": "class C:\n    def f(self):\n        self.register_buffer('w', None)"},
        "sglang.srt.a:C.w",
    ),
    "a member inherited over two modules": (
        {
            "srt/a.py": "from sglang.srt import b\nclass C(b.B): ...",
            "srt/b.py": "from sglang.srt.c import A as Z\nclass B(Z): ...",
            "srt/c.py": "class A:\n    def deep(self): ...",
        },
        "sglang.srt.a:C.deep",
    ),
    "a base named only for a type checker": (
        {"srt/a.py": "class A:\n    f: int = 0\nclass C(A): ..."},
        "sglang.srt.a:C.f",
    ),
    "a dataclass field": (
        {"srt/a.py": "from dataclasses import dataclass\n@dataclass\nclass C:\n    f: int"},
        "sglang.srt.a:C.f",
    ),
    "a Struct field": (
        {"srt/a.py": "import msgspec\nclass C(msgspec.Struct):\n    f: int = 0"},
        "sglang.srt.a:C.f",
    ),
    "a NamedTuple field": (
        {"srt/a.py": "from typing import NamedTuple\nclass C(NamedTuple):\n    f: int"},
        "sglang.srt.a:C.f",
    ),
    "an enum member": (
        {"srt/a.py": "from enum import Enum, auto\nclass C(Enum):\n    F = auto()"},
        "sglang.srt.a:C.F",
    ),
    "a second name for a method": (
        {"srt/a.py": "class C:\n    def f(self): ...\n    g = f"},
        "sglang.srt.a:C.g",
    ),
    "a nested class": (
        {"srt/a.py": "class C:\n    class D:\n        x = 1"},
        "sglang.srt.a:C.D.x",
    ),
}

ABSENT = {
    "a name only for a type checker": (
        {
            "srt/a.py": """
            from typing import TYPE_CHECKING
            if TYPE_CHECKING:
                from sglang.srt.b import B
            """,
            "srt/b.py": "class B: ...",
        },
        "sglang.srt.a:B",
    ),
    "a private name behind a star": (
        {"srt/a.py": "from sglang.srt.b import *", "srt/b.py": "def _f(): ..."},
        "sglang.srt.a:_f",
    ),
    "what __all__ leaves out, behind a star": (
        {
            "srt/a.py": "from sglang.srt.b import *",
            "srt/b.py": "__all__ = ['f']\ndef f(): ...\ndef g(): ...",
        },
        "sglang.srt.a:g",
    ),
    "a name deleted again": ({"srt/a.py": "x = 1\ndel x"}, "sglang.srt.a:x"),
    "a local import": (
        {"srt/a.py": "def f():\n    from sglang.srt.b import g", "srt/b.py": "def g(): ..."},
        "sglang.srt.a:g",
    ),
    "what stands under __main__": (
        {"srt/a.py": "if __name__ == '__main__':\n    x = 1"},
        "sglang.srt.a:x",
    ),
}


@pytest.mark.parametrize("case", THERE)
def test_what_is_there_is_found(case, make_surface):
    files, name = THERE[case]
    assert make_surface(BASE | files).parse(name) is not None


@pytest.mark.parametrize("case", ABSENT)
def test_what_is_not_there_at_run_time_is_not_found(case, make_surface):
    files, name = ABSENT[case]
    assert make_surface(BASE | files).parse(name) is None


def test_a_member_is_told_in_the_class_that_defines_it(make_surface):
    surface = make_surface(
        {
            "srt/a.py": "from sglang.srt.b import B\nclass C(B): ...",
            "srt/b.py": "class B:\n    x = 1",
        }
    )
    assert surface.parse("sglang.srt.a:C.x").name == "sglang.srt.b:B.x"


def test_a_class_with_getattr_is_open_and_so_is_one_derived_from_it(make_surface):
    surface = make_surface(
        {"srt/a.py": "class A:\n    def __getattr__(self, n): ...\nclass B(A): ...\nclass C: ..."}
    )
    assert surface.is_open(surface.parse("sglang.srt.a:B"))
    assert not surface.is_open(surface.parse("sglang.srt.a:C"))


def test_a_class_with_an_unknown_base_is_open(make_surface):
    surface = make_surface({"srt/a.py": "import x\nclass A(x.Y): ...\nclass B(Exception): ..."})
    assert surface.is_open(surface.parse("sglang.srt.a:A"))
    assert not surface.is_open(surface.parse("sglang.srt.a:B"))


def test_inheritance_in_a_circle_ends(make_surface):
    surface = make_surface({"srt/a.py": "class A(B): ...\nclass B(A): ..."})
    assert surface.parse("sglang.srt.a:A.x") is None


def test_imports_in_a_circle_end(make_surface):
    surface = make_surface(
        {"srt/a.py": "from sglang.srt.b import *", "srt/b.py": "from sglang.srt.a import *"}
    )
    assert surface.parse("sglang.srt.a:x") is None


def test_a_diamond_looks_in_the_common_base_last(make_surface):
    surface = make_surface(
        {
            "srt/a.py": """
            class Top:
                def f(self): ...
            class Left(Top): ...
            class Right(Top):
                def f(self): ...
            class Bottom(Left, Right): ...
            """
        }
    )
    assert surface.parse("sglang.srt.a:Bottom.f").owner.qual == "Right"


def test_a_dataclass_constructor_takes_its_fields_in_order(make_surface):
    surface = make_surface(
        {
            "srt/a.py": """
            from dataclasses import dataclass, field
            from typing import ClassVar
            @dataclass
            class Base:
                a: int
                b: list = field(default_factory=list)
            @dataclass
            class C(Base):
                c: int = field(init=False, default=0)
                d: ClassVar[int] = 1
                e: int = field(kw_only=True)
                f: int = 3
            """
        }
    )
    constructor = surface.constructor(surface.parse("sglang.srt.a:C"))
    names = [(each.name, each.kind, each.required) for each in constructor.parameters[1:]]
    assert names == [
        ("a", ParameterKind.POSITIONAL, True),
        ("b", ParameterKind.POSITIONAL, False),
        ("f", ParameterKind.POSITIONAL, False),
        ("e", ParameterKind.KEYWORD_ONLY, True),
    ]


def test_a_subclass_of_a_dataclass_without_decorator_keeps_the_constructor(make_surface):
    surface = make_surface(
        {
            "srt/a.py": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
            "class B(A):\n    y: int = 0"
        }
    )
    constructor = surface.constructor(surface.parse("sglang.srt.a:B"))
    assert [each.name for each in constructor.parameters] == ["self", "x"]


def test_a_class_without_constructor_takes_nothing_and_with_an_unknown_base_anything(make_surface):
    surface = make_surface({"srt/a.py": "import x\nclass A: ...\nclass B(x.Y): ..."})
    assert len(surface.constructor(surface.parse("sglang.srt.a:A")).parameters) == 1
    assert surface.constructor(surface.parse("sglang.srt.a:B")) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", ["A"]),
        ("'A'", ["A"]),
        ("Optional[A]", ["A"]),
        ("Union[A, 'B', None]", ["A", "B"]),
        ("A | None", ["A"]),
        ("Annotated[A, 1]", ["A"]),
        ("A[int]", ["A"]),
        ("Union[A, torch.Tensor]", []),
        ("List[A]", []),
        ("Nowhere", []),
        ("not an annotation", []),
    ],
)
def test_annotations_mean_classes_only_where_every_alternative_is_known(
    text, expected, make_surface
):
    surface = make_surface({"srt/a.py": "class A: ...\nclass B: ..."})
    found = surface.annotation_type("sglang.srt.a", text)
    assert [each.qual for each in found] == expected


def test_server_args_assembled_at_import_has_the_fields_of_its_namespaces(make_surface):
    surface = make_surface(
        {
            "srt/server_args.py": """
            import msgspec
            from sglang.srt.arg_groups.fields import collect_input_fields
            from sglang.srt.arg_groups.fields.device import Device
            from sglang.srt.arg_groups.fields.model import Model
            class ServerArgs:
                def resolve_once(self): ...
            ServerArgs = msgspec.defstruct("ServerArgs", [], namespace={})
            """,
            "srt/arg_groups/fields/__init__.py": (
                "from sglang.srt.arg_groups.field_order import POSITIONAL_FIELD_ORDER"
            ),
            "srt/arg_groups/field_order.py": 'POSITIONAL_FIELD_ORDER = ("model_path", "device")',
            "srt/arg_groups/fields/device.py": """
            import msgspec
            from sglang.srt.arg_groups.arg_utils import A, Arg
            class Device(msgspec.Struct):
                _NS_PATH = "device"
                device: A[str, "The device."] = "cpu"
                gpu_id = Derived(default=None)
            """,
            "srt/arg_groups/fields/model.py": """
            import msgspec
            from sglang.srt.arg_groups.arg_utils import A, Arg
            class Model(msgspec.Struct):
                _NS_PATH = "model"
                model_path: A[str, Arg(help="Path.", aliases=["--model"])]
            """,
        }
    )
    found = surface.parse("sglang.srt.server_args:ServerArgs")
    constructor = surface.constructor(found)
    assert [each.name for each in constructor.parameters] == ["self", "model_path", "device"]
    assert constructor.parameters[2].annotation == "str"
    assert surface.kind(found) & Kind.STRUCT
    assert surface.parse("sglang.srt.server_args:ServerArgs.resolve_once") is not None
    assert surface.parse("sglang.srt.server_args:ServerArgs.gpu_id") is None
    assert surface.flags()["--model"].dest == "model_path"
    assert surface.flags()["--device"].names == ("--device",)


def test_annotations_of_a_mixin_that_is_no_dataclass_are_no_fields(make_surface):
    surface = make_surface(
        {
            "srt/a.py": "from dataclasses import dataclass\nclass Mixin:\n    hint: int = 0\n"
            "@dataclass\nclass C(Mixin):\n    f: int = 1"
        }
    )
    found = surface.parse("sglang.srt.a:C")
    assert list(surface.fields(found)) == ["f"]
    assert surface.parse("sglang.srt.a:C.hint") is not None
