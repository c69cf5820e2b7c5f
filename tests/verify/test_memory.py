"""What is said of a release does not hang on the releases that were looked at before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin


def test_a_second_value_that_hangs_on_an_attempt_changes_with_it(
    broken_by: Callable[..., list[str]],
) -> None:
    """Whether a ``try`` goes through is asked once, and whoever asks stands on the answer."""
    classes = "class First:\n    x = 1\nclass Second:\n    kept = 1\n"
    others = "class First:\n    x = 1\nclass Second:\n    pass\n"
    told = broken_by(
        {"srt/one.py": classes, "srt/other.py": others},
        {"srt/one.py": classes.replace("First", "Renamed"), "srt/other.py": others},
        """
        try:
            from sglang.srt.one import First
            from sglang.srt.one import Second
        except ImportError:
            from sglang.srt.other import First
            from sglang.srt.other import Second

        def use():
            First.x
            Second.kept
        """,
    )
    assert "error field-removed sglang.srt.one:Second.kept:11" in told


LATER = """\
try:
    from sglang.kernels.ops.attention.kv_indices import create_flashinfer_kv_indices_triton
except ImportError:
    create_flashinfer_kv_indices_triton = None
from sglang.srt.speculative.spec_utils import draft_tp_context
"""
"""Things that come late, and were in several other places before."""


@pytest.mark.parametrize("release", ["0.5.3", "0.5.12", "0.5.13", "0.5.16", "0.5.23"])
@pytest.mark.parametrize("plugin", ["reference", "later"])
def test_a_release_says_the_same_alone_and_among_others(
    plugin: str, release: str, tmp_path: Path
) -> None:
    catalog = load_catalog()
    recorded = list(catalog.releases)
    at = recorded.index(release)
    root = Path(__file__).parents[2] / "kunlun_backend"
    if plugin == "later":
        root = tmp_path / "plugin.py"
        root.write_text(LATER)
    contracts = load_contracts()  # given, so that nothing of it comes from what is kept
    alone = check_plugin(root, catalog, [release], contracts=contracts)
    among = check_plugin(root, catalog, recorded[at - 12 : at + 1], contracts=contracts)
    assert msgspec.to_builtins(alone.releases[0]) == msgspec.to_builtins(among.releases[-1])
