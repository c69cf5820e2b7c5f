"""The conformance suite: checks of a plugin against contracts, shipped as pytest tests.

In a vendor's own tests, with two fixtures::

    from sglang_contracts.suite import *

    @pytest.fixture(scope="session")
    def sglang_capabilities():
        return {"dtypes": ["bfloat16"], "page-sizes": [64], ...}

    @pytest.fixture(scope="session")
    def sglang_backend():
        return MyAttentionBackend          # called with the model-runner stand-in

or without a line of code, for an installed plugin::

    pytest --pyargs sglang_contracts.suite --sglang-plugin NAME [--sglang fake:0.5.16]

Importing this package imports neither pytest nor torch.
"""

from __future__ import annotations

import importlib
from typing import Any

_TESTS = (
    "sglang_session",
    "test_level_0",
    "test_level_1",
    "test_level_2",
    "test_level_3",
    "test_level_4",
    "test_mutant_is_killed",
    "test_planned_checks_ran",
)

__all__ = list(_TESTS)


def __getattr__(name: str) -> Any:
    if name in _TESTS:
        return getattr(importlib.import_module("sglang_contracts.suite.conformance"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
