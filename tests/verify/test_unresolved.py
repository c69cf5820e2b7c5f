"""What no recorded release has is an error or unknown, and nothing unknown is called compatible."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from sglang_contracts.surface import Catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import ReleaseReport

Checked = Callable[..., ReleaseReport]


@pytest.fixture
def newest(two_releases: Catalog, tmp_path: Path) -> Checked:
    """Checks a plugin (text of plugin.py, and further files) against the newer release."""

    def check(text: str, **files: str) -> ReleaseReport:
        root = tmp_path / "plugin"
        root.mkdir()
        for name, each in {"plugin": text, **files}.items():
            (root / f"{name}.py").write_text(textwrap.dedent(each))
        return check_plugin(root, two_releases, ["0.5.2"], contracts=()).releases[0]

    return check


NEVER = {
    "a name of a closed module": (
        "from sglang.srt.names import never_was\n",
        "symbol-removed",
    ),
    "a module": ("from sglang.srt.never_was import x\n", "module-removed"),
    "a module, imported in a function": (
        "def f():\n    from sglang.srt.never_was import x\n    return x\n",
        "module-removed",
    ),
    "an attribute of a module": (
        "import sglang.srt.names as names\n\nnames.never_was()\n",
        "symbol-removed",
    ),
    "the target of a patch": (
        "from unittest import mock\n\n"
        "mock.patch('sglang.srt.pool.Pool.never_was', print).start()\n",
        "patch-target-missing",
    ),
}


@pytest.mark.parametrize("never", NEVER)
def test_what_no_release_has_is_an_error_where_its_module_is_closed(
    never: str, newest: Checked
) -> None:
    text, rule = NEVER[never]
    report = newest(text)
    told = [each for each in report.findings if each.rule == rule]
    assert report.verdict.value == "broken"
    assert [(each.severity.value, each.first_broken, each.last_ok) for each in told] == [
        ("error", None, None)
    ]


HOLDS = {
    "a guarded name with another way": """
        try:
            from sglang.srt.names import never_was
        except ImportError:
            from sglang.srt.names import stays as never_was
        """,
    "a name under TYPE_CHECKING": """
        from typing import TYPE_CHECKING
        from sglang.srt.names import stays
        if TYPE_CHECKING:
            from sglang.srt.names import never_was
        """,
    "what is only asked for": """
        import sglang.srt.names as names
        if hasattr(names, "never_was"):
            names.never_was()
        names.stays()
        """,
    "an attribute that the plugin sets itself": """
        from sglang.srt.batch import Batch
        def prepare(b: Batch):
            b.own_mark = 1
        def read(b: Batch):
            return b.own_mark
        """,
    "attributes computed on the plugin's own objects": """
        from sglang.srt.names import stays
        class Own:
            def __init__(self, **given):
                for name, value in given.items():
                    setattr(self, name, value)
        """,
    "names computed on an object of no known kind, where nothing is looked up": """
        from sglang.srt.names import stays
        def fill(config, given):
            for name, value in given.items():
                setattr(config, name, value)
        """,
}


@pytest.mark.parametrize("holds", HOLDS)
def test_what_is_resolved_and_holds_is_compatible(holds: str, newest: Checked) -> None:
    report = newest(HOLDS[holds])
    assert report.unresolved == ()
    assert report.verdict.value == "compatible"


UNKNOWN = {
    "a patch under names from data": (
        """
        import importlib
        PATCHES = [("sglang.srt.names", "stays")]
        def apply(patches, ours):
            for module, name in patches:
                setattr(importlib.import_module(module), name, getattr(ours, name))
        """,
        "computed-patch",
    ),
    "a module of SGLang's patched under computed names": (
        """
        import sglang.srt.names as names
        def apply(table):
            for name, value in table.items():
                setattr(names, name, value)
        """,
        "computed-patch",
    ),
    "a part that is not recorded": (
        """
        from sglang.multimodal_gen.runtime.platforms import current_platform
        from sglang.srt.names import stays
        """,
        "not-recorded",
    ),
    "an attribute that an object may be given": (
        """
        from sglang.srt.batch import Batch
        def read(b: Batch):
            return b.never_was
        """,
        "never-a-member",
    ),
}


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_what_cannot_be_told_is_unknown_and_named(unknown: str, newest: Checked) -> None:
    text, reason = UNKNOWN[unknown]
    report = newest(text)
    assert report.verdict.value == "unknown"
    assert reason in {each.reason for each in report.unresolved}
    assert all(each.location.file == "plugin.py" for each in report.unresolved)


def test_an_error_outweighs_what_is_unknown(newest: Checked) -> None:
    text = (
        "from sglang.srt.names import dropped\n"
        "from sglang.multimodal_gen.runtime.platforms import current_platform\n"
    )
    assert newest(text).verdict.value == "broken"


def test_a_plugin_that_takes_nothing_is_not_called_compatible(newest: Checked) -> None:
    assert newest("import json\n\nprint(json.dumps({}))\n").verdict.value == "unknown"


def test_the_plugins_own_tests_do_not_decide(newest: Checked) -> None:
    report = newest(
        "from sglang.srt.names import stays\n",
        test_plugin="from sglang.srt.names import dropped\n",
    )
    assert report.verdict.value == "compatible"
    assert [each.severity.value for each in report.findings] == ["note"]


def test_a_tree_of_nothing_but_tests_is_judged_as_any_other(two_releases, tmp_path: Path) -> None:
    (tmp_path / "test_only.py").write_text("from sglang.srt.names import dropped\n")
    [release] = check_plugin(tmp_path, two_releases, ["0.5.2"], contracts=()).releases
    assert release.verdict.value == "broken"
