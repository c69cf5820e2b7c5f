"""The reference plugin computes with the SDK stand-in here; real SGLang is in ``on_sglang``."""

import pytest


@pytest.fixture
def shim(monkeypatch):
    """The SDK stand-in, asked for as a user would, and gone again afterwards."""
    pytest.importorskip("torch")
    from sglang_contracts.fakes import kunlun_sdk

    from kunlun_backend import sdk

    present = kunlun_sdk.installed()
    monkeypatch.setenv(kunlun_sdk.ENVIRONMENT, "shim")
    sdk._module.cache_clear()
    yield
    sdk._module.cache_clear()
    if not present:
        kunlun_sdk.uninstall()
