"""Servers of the installed SGLang, started beside the other tests: one as it is, one with defects.

Both are asked in threads of their own, each in its own order; the tests only look at what came out.
"""

import contextlib
import dataclasses
import importlib.util
import os
import tempfile
from pathlib import Path

from sglang_contracts.live import shim
from sglang_contracts.serving import plugin as plugins
from sglang_contracts.serving.registry import chosen
from sglang_contracts.serving.report import report
from sglang_contracts.serving.run import run
from sglang_contracts.serving.session import QUICK
from sglang_contracts.suite.session import load_plugin

PLUGIN = "sglang-kunlun-reference"
MUTANTS = Path(__file__).with_name("serving_mutants")
EXTENT = dataclasses.replace(QUICK, repeats=2, prompts=(32, 512), soak=4.0)
SHORT = dataclasses.replace(EXTENT, concurrent=(12,), repeats=1, decode=640)

TIMES = 3
"""How often a defect that a clock has to tell is looked for: what else runs here may cover it."""


def mutants():
    """The module of the defects."""
    spec = importlib.util.spec_from_file_location("serving_mutants", MUTANTS / "serving_mutants.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def opened(extent, environment=None, flags=()):
    """A session with a server of the reference plugin."""
    with (
        tempfile.TemporaryDirectory(prefix="sglang-contracts-") as folder,
        plugins.opened(
            load_plugin(PLUGIN), Path(folder), flags=flags, environment=environment
        ) as session,
    ):
        session.extent = extent
        session.further = None  # another server would take this line as long again
        yield session


def ask_a_server():
    """All checks on a server as it is."""
    with opened(EXTENT) as session:
        session.info  # noqa: B018 - for the report
        ran = run(session, chosen(()))
        return report(session, ran, "quick")


def ask_a_server_with_defects():
    """For each defect, what the check that fits said of it."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="sglang-contracts-") as folder:
        switch = Path(folder) / "mutant"
        environment = {
            "SERVING_MUTANT": str(switch),
            # Its own book-keeping would end the server at a leak: our check is to find it.
            "SGLANG_ENABLE_STRICT_MEM_CHECK_DURING_IDLE": "0",
            "PYTHONPATH": os.pathsep.join((shim.environment({})["PYTHONPATH"], str(MUTANTS))),
        }
        with opened(SHORT, environment, ("--disable-overlap-schedule",)) as session:
            for name, check in mutants().FITTING.items():
                switch.write_text(name, encoding="utf-8")
                for _ in range(TIMES if check.startswith("latency") else 1):
                    (found[name],) = run(session, chosen((check,))).results
                    if found[name].outcome == "fail":
                        break
    return found
