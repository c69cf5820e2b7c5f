"""The reference on a fake: all that holds, holds. On every release's: ``tox -e fakes``."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")


def suite(fresh, tmp_path, *options):
    lines = tmp_path / "results.jsonl"
    done = fresh(
        *("-m", "pytest", "-q", "-p", "sglang_contracts.suite.pytest_plugin", "-W", "ignore"),
        *(
            "-p",
            "no:cacheprovider",
            "--import-mode=importlib",
            "--pyargs",
            "sglang_contracts.suite",
        ),
        *("--sglang-plugin", "sglang-kunlun-reference", "--sglang-results", str(lines)),
        *options,
        cwd=tmp_path,
    )
    found = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
    return done, found


def test_the_reference_holds_everything(fresh, tmp_path):
    done, lines = suite(fresh, tmp_path, "--sglang", "fake:0.5.13")
    assert done.returncode == 0, done.stdout[-3000:]
    results = [line["result"] for line in lines if "result" in line]
    planned = next(line["planned"] for line in lines if "planned" in line)
    assert len(results) == len(planned) >= 70
    assert f"{len(planned)} of {len(planned)} planned checks ran" in done.stdout
    assert "not exercised" not in done.stdout
    skipped = [result for result in results if result["outcome"] == "skip"]
    assert all("0.5.13" in result["reason"] for result in skipped)


def test_only_what_is_asked_for_is_planned(fresh, tmp_path):
    done, lines = suite(
        fresh, tmp_path, "--sglang", "fake:0.5.16", "--sglang-level", "2", "-k", "kv-pool"
    )
    assert done.returncode == 0, done.stdout[-3000:]
    planned = next(line["planned"] for line in lines if "planned" in line)
    assert planned
    assert all(each.startswith("kv-pool.") for each in planned)


def test_without_a_plugin_it_says_what_to_give(fresh, tmp_path):
    done = fresh(
        *("-m", "pytest", "-q", "-p", "sglang_contracts.suite.pytest_plugin"),
        *("-p", "no:cacheprovider", "--pyargs", "sglang_contracts.suite", "-x"),
        cwd=tmp_path,
    )
    assert done.returncode != 0
    assert "--sglang-plugin NAME" in done.stdout


def test_a_vendor_adopts_it_with_two_fixtures(fresh, tmp_path):
    (tmp_path / "test_conformance.py").write_text(
        "import pytest\n"
        "from sglang_contracts.suite import *\n\n\n"
        "@pytest.fixture(scope='session')\n"
        "def sglang_capabilities():\n"
        "    return {'dtypes': ['float32'], 'page-sizes': [16], 'heads': [[4, 2]],\n"
        "            'kv-pool': 'kunlun_backend.pool:KunlunMHATokenToKVPool'}\n\n\n"
        "@pytest.fixture(scope='session')\n"
        "def sglang_backend():\n"
        "    def make(runner):\n"
        "        from kunlun_backend.backend import KunlunAttentionBackend\n"
        "        return KunlunAttentionBackend(runner)\n"
        "    return make\n"
    )
    done = fresh(
        *("-m", "pytest", "-q", "-p", "sglang_contracts.suite.pytest_plugin", "-W", "ignore"),
        *("-p", "no:cacheprovider", "--sglang", "fake:0.5.16", "-rs", "test_conformance.py"),
        cwd=tmp_path,
        SGLANG_CONTRACTS_SDK="shim",
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "planned checks ran" in done.stdout
    assert "does not declare 'sampler'" in done.stdout
    assert "its source is not known" in done.stdout or "source is not known" in done.stdout


def test_a_snippet_of_fixtures_fails_alone(fresh, tmp_path):
    """It names the test file: there is no distribution to name."""
    (tmp_path / "test_mine.py").write_text(
        "import pytest\n"
        "from sglang_contracts.suite import *\n\n\n"
        "@pytest.fixture(scope='session')\n"
        "def sglang_capabilities():\n"
        "    return {'dtypes': ['float32'], 'page-sizes': [1]}\n\n\n"
        "@pytest.fixture(scope='session')\n"
        "def sglang_backend():\n"
        "    def make(runner):\n"
        "        from kunlun_backend.backend import KunlunAttentionBackend\n\n"
        "        class Wrong(KunlunAttentionBackend):\n"
        "            def forward_decode(self, *args, **kwargs):\n"
        "                return super().forward_decode(*args, **kwargs) * 2\n\n"
        "        return Wrong(runner)\n"
        "    return make\n"
    )
    done = fresh(
        *("-m", "pytest", "-q", "-p", "sglang_contracts.suite.pytest_plugin", "-W", "ignore"),
        *("-p", "no:cacheprovider", "--sglang", "fake:0.5.16", "test_mine.py"),
        *("-k", "decode-equals-the-oracle"),
        cwd=tmp_path,
        SGLANG_CONTRACTS_SDK="shim",
    )
    assert done.returncode == 1, done.stdout[-2000:]
    lines = done.stdout.partition("reproduce:\n")[2].splitlines()
    code = "\n".join(lines[: lines.index(")") + 1])
    assert f"tests='{tmp_path / 'test_mine.py'}'" in code
    alone = fresh("-c", code, SGLANG_CONTRACTS_SDK="shim")
    assert alone.returncode == 1
    assert (
        "Violation: attention-backend.decode-equals-the-oracle: the output differs" in alone.stderr
    )


def test_pages_of_the_size_that_real_cards_have_are_certified(fresh, tmp_path):
    """128 slots a page and more: whatever is tried must have room for several of them."""
    table = (Path(__file__).parents[2] / "kunlun_backend" / "pyproject.toml").read_text()
    table = table[table.index("[tool.sglang-contracts]") :]
    declared = {
        'dtypes = ["float32", "bfloat16", "float16"]': 'dtypes = ["bfloat16"]',
        "page-sizes = [1, 16, 64]": "page-sizes = [128, 256]",
        "heads = [[4, 2], [4, 4], [8, 1]]": "heads = [[6, 2]]",
        "head-dims = [[16, 16], [32, 16]]": "head-dims = [[64, 64]]",
    }
    for before, after in declared.items():
        assert before in table
        table = table.replace(before, after)
    (tmp_path / "cards.toml").write_text(table)
    done, lines = suite(
        *(fresh, tmp_path, "--sglang", "fake:0.5.21"),
        *("--sglang-config", str(tmp_path / "cards.toml")),
    )
    assert done.returncode == 0, done.stdout[-3000:]
    outcomes = {line["result"]["outcome"] for line in lines if "result" in line}
    assert outcomes == {"pass", "skip"}
    assert "not exercised" not in done.stdout
