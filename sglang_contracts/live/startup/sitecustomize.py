"""Installs the import shim and the tracer when Python starts.

Put this folder first on ``PYTHONPATH``. What is installed depends on the environment variables.

It also runs the ``sitecustomize`` that it hides, if there is one.
"""

import os
import sys


def _run_the_hidden_one() -> None:
    import importlib.machinery
    import importlib.util

    here = os.path.realpath(os.path.dirname(__file__))  # noqa: PTH120 - pathlib is slow to import
    rest = [part for part in sys.path if os.path.realpath(part or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_run_the_hidden_one()
if os.environ.get("SGLANG_CONTRACTS_SHIM") == "1":
    from sglang_contracts.live import shim

    shim.install()
    folder = os.environ.get("SGLANG_CONTRACTS_TRACE")
    if folder:
        from pathlib import Path

        from sglang_contracts.live import trace

        trace.install(Path(folder))
    card_memory = os.environ.get("SGLANG_CONTRACTS_CARD_MEMORY", "")
    if card_memory.isdigit():
        from sglang_contracts.live import memory_size

        memory_size.install(int(card_memory))
    card_folder = os.environ.get("SGLANG_CONTRACTS_CARD")
    if card_folder:
        from pathlib import Path

        from sglang_contracts.live import card

        card.install(Path(card_folder))
    counted = os.environ.get("SGLANG_CONTRACTS_KERNELS")
    if counted:
        from pathlib import Path

        from sglang_contracts.live import card

        card.count(Path(counted))
    factory = os.environ.get("SGLANG_CONTRACTS_REGISTER")
    if factory:
        from sglang_contracts.live import register

        register.install(factory)
