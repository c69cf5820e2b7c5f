"""The page on the architecture names modules that there are."""

import re
from pathlib import Path

import sglang_contracts

ROOT = Path(sglang_contracts.__file__).parent
PAGE = ROOT.parent / "docs" / "architecture.md"
OTHER = frozenset({"sglang", "sglang_contracts.fakes", "fakes", "ast", "ask", "token_to_kv_pool"})
"""Names in it that are no modules of the package."""


def modules() -> set[str]:
    """Names of all modules and packages, each with and without the packages around it."""
    found: set[str] = set()
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        found.update(".".join(parts[start:]) for start in range(len(parts)))
    return found


def test_each_module_that_the_page_names_is_there():
    text = re.sub(r"```.*?```", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = set(re.findall(r"`([a-z]\w*(?:\.[a-z]\w*)*)`", text))
    commands = {path.stem.replace("_", "-") for path in (ROOT / "cli").glob("*.py")}
    assert named - modules() - OTHER - commands == set()
