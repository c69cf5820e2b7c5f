"""Variants of the reference that SGLang allows: the suite passes each of them.

A variant is a module with ``NAME``, ``FAMILIES`` (beginnings of the ids of checks that it could
disturb) and ``make(reference)``, like a mutant.
"""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

LEGAL = sorted((Path(__file__).parents[1] / "legal").glob("*.py"))
HEAVY = ("keys-are-attended", "long-prefills", "beyond-16-bits", "layers-keep-their-own")
"""What costs seconds and says nothing more of a variant than its smaller kin does."""

RUN = """
import importlib.util, json, sys
from sglang_contracts.suite.engine import run_check
from sglang_contracts.suite.registry import checks
from sglang_contracts.suite.session import open_session
import dataclasses

session = open_session("sglang-kunlun-reference", "fake:0.5.21")
heavy, found = sys.argv[1].split(), {}
for path in sys.argv[2:]:
    spec = importlib.util.spec_from_file_location("variant", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    variant = dataclasses.replace(session, subject=module.make(session.subject))
    results = [
        run_check(check, variant.context("quick"))
        for check in checks()
        if check.id.startswith(tuple(module.FAMILIES)) and not any(h in check.id for h in heavy)
    ]
    wrong = [f"{r.id}: {r.message}" for r in results if r.outcome not in ("pass", "skip")]
    found[path] = [sum(r.outcome == "pass" for r in results), wrong]
print(json.dumps(found))
"""


def test_what_is_legal_passes(fresh):
    done = fresh("-c", RUN, " ".join(HEAVY), *map(str, LEGAL))
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == len(LEGAL) >= 8
    for path, (passed, wrong) in found.items():
        assert wrong == [], path
        assert passed >= 8, path
