"""A stand-in for the Kunlun SDK in torch, for hosts without a card.

`install()` puts `kunlun_ops`, `xspeedgate_ops` and `torch_xmlir` into `sys.modules` under the
names and call forms that public Kunlun plugins use, and registers `torch.ops.xspeedgate_ops`.
It never shadows a real SDK. Kernels are whole-batch torch: none loops over requests or tokens.

A plugin asks for it with `SGLANG_CONTRACTS_SDK=shim` (`requested()`); as SGLang loads plugins
anew in every process that it spawns, the variable alone carries the choice there.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import types

from sglang_contracts.errors import ContractsError

ENVIRONMENT = "SGLANG_CONTRACTS_SDK"
"""The environment variable that switches the shim on; its only value is `shim`."""

MODULES = ("kunlun_ops", "xspeedgate_ops", "torch_xmlir")
"""The SDK's modules that the shim stands in for."""

_MARK = "__sglang_contracts_shim__"


def requested() -> bool:
    """Whether the environment asks for the shim.

    Raises:
        ContractsError: The variable has another value than `shim`.
    """
    value = os.environ.get(ENVIRONMENT, "")
    if value not in ("", "shim"):
        raise ContractsError(
            f"{ENVIRONMENT}={value!r} is not known.",
            f"Set {ENVIRONMENT}=shim for the SDK stand-in, or unset it to use the real SDK.",
        )
    return value == "shim"


def installed() -> bool:
    """Whether the stand-in is what importing any of the SDK's modules gives in this process."""
    return all(_is_ours(sys.modules.get(name)) for name in MODULES)


def _is_ours(module: object) -> bool:
    # Not hasattr: on a lazy module of another library that would import it.
    return isinstance(module, types.ModuleType) and _MARK in vars(module)


def _real_modules() -> list[str]:
    found = []
    for name in MODULES:
        module = sys.modules.get(name)
        if module is not None:
            if not _is_ours(module):
                found.append(name)
        elif importlib.util.find_spec(name) is not None:
            found.append(name)
    return found


def install() -> None:
    """Make the stand-in importable in this process; a second call changes nothing.

    Raises:
        ContractsError: A module of a real SDK is installed: the stand-in never shadows it.
    """
    if installed():
        return
    real = _real_modules()
    if real:
        raise ContractsError(
            f"A Kunlun SDK is installed ({', '.join(real)}); its stand-in stays out of the way.",
            f"Unset {ENVIRONMENT} to use the SDK, or run in an environment without it.",
        )
    from sglang_contracts.fakes.kunlun_sdk import modules

    for module in modules.build():
        setattr(module, _MARK, True)
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None, origin="shim")
        sys.modules[module.__name__] = module


def uninstall() -> None:
    """Take the stand-in out of `sys.modules` again; the registered torch operators remain."""
    shims = [name for name, module in list(sys.modules.items()) if _is_ours(module)]
    for name in shims:
        del sys.modules[name]
