"""What no release can tell makes the verdict unknown, and its near twin does not."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sglang_contracts.surface import Catalog
from sglang_contracts.verify import check_plugin

HEAD = (
    "import importlib\nimport functools\nimport operator\nimport sys\n\n"
    "from sglang.srt.batch import Batch\n"
)
UNKNOWN = {
    "swallowed-star": """
        try:
            from vendor_private.sglang_patches import *
        except ImportError:
            pass
        """,
    "swallowed-star of any name": """
        try:
            from vendor_private.extras import *
        except Exception:
            pass
        """,
    "computed-patch over sys.modules": """
        def patch_everywhere(name, new):
            for module_name, module in list(sys.modules.items()):
                if module_name.startswith("sglang.srt.") and hasattr(module, name):
                    setattr(module, name, new)
        """,
    "computed-patch by reduce": """
        def patch(module, name, value):
            found = functools.reduce(getattr, name.split(".")[:-1], importlib.import_module(module))
            setattr(found, name.split(".")[-1], value)
        """,
    "computed-patch of any module": """
        for name in [each for each in sys.modules if each.startswith("sglang.")]:
            for attribute, new in TABLE.items():
                if hasattr(sys.modules[name], attribute):
                    setattr(sys.modules[name], attribute, new)
        """,
    "computed-patch by attrgetter": """
        def put(module, path, new):
            owner, _, last = path.rpartition(".")
            setattr(operator.attrgetter(owner)(importlib.import_module(module)), last, new)
        """,
    "never-a-member": """
        from sglang.srt.late import Late


        def use(late: Late):
            return late.never
        """,
}
TOLD = {
    "an optional dependency": """
        try:
            from vendor_private.extras import *
        except ImportError:
            pass
        """,
    "a star import that has to be there": "from vendor_private.sglang_patches import *\n",
    "a failure that is raised again": """
        try:
            from vendor_private.sglang_patches import *
        except ImportError as error:
            raise RuntimeError("install it") from error
        """,
    "a star import of the standard library": """
        try:
            from tkinter import *
        except Exception:
            pass
        """,
    "attributes of the plugin's own objects": """
        def fill(options, values):
            for name, module in values.items():
                setattr(options.extra, name, module)
        """,
    "a member of what came later": """
        from sglang.srt.late import Late


        def use(late: Late):
            return late.kept
        """,
}


@pytest.fixture
def verdict(
    recorded: Callable[[Mapping[str, str], Mapping[str, str]], Catalog], tmp_path: Path
) -> Callable[[str], tuple[str, list[str]]]:
    """The verdict on a plugin in the newer of two releases, and the reasons why it is unknown."""
    batch = "class Batch:\n    def __init__(self):\n        self.rows = 1\n"
    late = "class Late:\n    def __init__(self):\n        self.kept = 1\n"
    catalog = recorded({"srt/batch.py": batch}, {"srt/batch.py": batch, "srt/late.py": late})

    def told(text: str) -> tuple[str, list[str]]:
        (tmp_path / "plugin.py").write_text(HEAD + textwrap.dedent(text))
        [report] = check_plugin(tmp_path, catalog, ["0.5.2"], contracts=()).releases
        return report.verdict.value, [each.reason for each in report.unresolved]

    return told


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_told_is_unknown_with_its_reason(
    name: str, verdict: Callable[[str], tuple[str, list[str]]]
) -> None:
    assert verdict(UNKNOWN[name]) == ("unknown", [name.partition(" ")[0]])


@pytest.mark.parametrize("name", TOLD)
def test_its_near_twin_is_told(name: str, verdict: Callable[[str], tuple[str, list[str]]]) -> None:
    assert verdict(TOLD[name]) == ("compatible", [])


@pytest.mark.parametrize(("target", "expected"), [("rows", "compatible"), ("never", "broken")])
def test_a_hook_is_told_by_its_registry_whatever_function_it_is_given(
    target: str, expected: str, verdict: Callable[[str], tuple[str, list[str]]]
) -> None:
    text = f"""
        class HookRegistry:
            register = None


        HookRegistry.register("sglang.srt.batch.Batch.{target}", print)
        """
    assert verdict(text) == (expected, [])
