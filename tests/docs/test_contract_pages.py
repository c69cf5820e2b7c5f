"""The pages on contracts are as ``docs/generate.py`` writes them, and say all that contracts do."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sglang_contracts.contract import Kind, load_contracts

DOCS = Path(__file__).parents[2] / "docs"
CONTRACTS = load_contracts(DOCS.parent / "contracts")


def generate(folder, *arguments):
    return subprocess.run(
        [sys.executable, str(folder / "generate.py"), *arguments],
        capture_output=True,
        text=True,
        cwd=DOCS.parent,
    )


def page(name):
    return (DOCS / "contracts" / f"{name}.md").read_text(encoding="utf-8")


def test_the_committed_pages_are_current():
    done = generate(DOCS, "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_stale_page_and_one_too_many_are_named_and_mended(tmp_path):
    for name in ("generate.py", "wording.py", "contracts.md"):
        shutil.copy(DOCS / name, tmp_path)
    shutil.copytree(DOCS / "contracts", tmp_path / "contracts")
    (tmp_path / "contracts" / "platform.md").write_text("old")
    (tmp_path / "contracts" / "gone.md").write_text("old")
    done = generate(tmp_path, "--check")
    assert done.returncode == 1
    assert re.findall(r"docs/contracts/(\w+)\.md is stale", done.stdout) == ["gone", "platform"]
    assert (tmp_path / "contracts" / "gone.md").exists()
    assert generate(tmp_path).returncode == 0
    assert not (tmp_path / "contracts" / "gone.md").exists()
    assert (tmp_path / "contracts" / "platform.md").read_text() == page("platform")


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.id)
def test_every_clause_is_on_the_page(contract):
    text = page(contract.id)
    left_out = []
    for clause in contract.clauses:
        said = {
            Kind.BEHAVIOUR: (clause.now,),
            Kind.INVARIANT: (clause.holds,),
            Kind.FUNCTION: clause.symbols,
            Kind.CLASS: clause.symbols,
            Kind.MODULE: clause.symbols,
        }.get(clause.kind, (clause.name,))
        if not all(each.replace("|", "\\|") in text for each in said):
            left_out.append(clause.id)
    assert left_out == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("forward-batch", "| `seq_lens_cpu` | all | `int64` | `[B]` | host | yes |  |"),
        ("forward-batch", "### Fields in extend, mixed"),
        ("forward-batch", "| `extend_start_loc` | all | `int32` | `[B]` | compute | yes |"),
        (
            "forward-batch",
            "- **Gone**: `token_to_kv_pool`: use "
            "`sglang.srt.model_executor.forward_context:get_token_to_kv_pool` (from 0.5.13), or "
            "the pool the backend keeps from its model runner: self.token_to_kv_pool",
        ),
        (
            "attention-backend",
            "`init_cuda_graph_state(max_bs, max_num_tokens)` from 0.4.8<br>"
            "`init_cuda_graph_state(max_bs)` before 0.4.8",
        ),
        ("attention-backend", "SGLang calls `enable_early_verify_metadata`"),
        ("platform", "| `get_kv_pool_cls(*, kind)` | from 0.5.22 | always |"),
        ("platform", "| `empty_cache()` | all | from 0.5.13 |"),
        ("platform", "| `seed_everything(seed=…)` | all | not seen |"),
    ],
)
def test_a_page_tells_fields_signatures_and_moves(name, line):
    assert line in page(name)


def test_what_is_called_reserved_is_used_by_no_release():
    lines = [line for line in page("platform").splitlines() if "Reserved: no release" in line]
    assert len(lines) > 5
    assert [line for line in lines if "| not seen |" not in line] == []


def test_the_index_links_every_page():
    text = (DOCS / "contracts.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\(contracts/([\w-]+)\.md\)", text) == [each.id for each in CONTRACTS]
