"""Server arguments, environment variables, and questions about the machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import BY_RECORD, BY_RESULT, Given, function, method

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_ARGS = "sglang.srt.server_args"
_UTILS = ("sglang.srt.utils", "sglang.srt.utils.common")
_TRUE = ("true", "1", "yes", "y")


@method("ServerArgs", "__post_init__")
def _post_init(fake: Fake, self: Any, given: Given) -> None:
    """Upstream derives defaults from model and machine: here they stay as they are given."""


for _module in _UTILS:

    @function(_module, "is_cuda", "is_hip", "is_rocm", "is_npu", "is_xpu", "is_hpu", "is_musa")
    @function(_module, "is_mps", "is_cuda_alike", "is_sail", "is_blackwell", "is_sm100_supported")
    def _no_accelerator(fake: Fake, given: Given) -> bool:
        return False

    @function(_module, "is_cpu")
    def _is_cpu(fake: Fake, given: Given) -> bool:
        return os.environ.get("SGLANG_USE_CPU_ENGINE", "0") == "1"

    @function(_module, "get_bool_env_var")
    def _bool_variable(fake: Fake, given: Given) -> bool:
        held = os.environ.get(given["name"], given.get("default", "false"))
        return str(held).strip().lower() in _TRUE

    @function(_module, "support_triton")
    def _support_triton(fake: Fake, given: Given) -> bool:
        return given["backend"] not in ("torch_native", "intel_amx", "ascend")


# -- choices of the command line ----


def _extends(listing: str) -> Any:
    def extend(fake: Fake, given: Given) -> None:
        (added,) = given.values()
        fake.get(f"{_ARGS}:{listing}").extend(added)

    return extend


for _adder, _listing in {
    "add_attention_backend_choices": "ATTENTION_BACKEND_CHOICES",
    "add_load_format_choices": "LOAD_FORMAT_CHOICES",
    "add_quantization_method_choices": "QUANTIZATION_CHOICES",
    "add_grammar_backend_choices": "GRAMMAR_BACKEND_CHOICES",
    "add_disagg_transfer_backend_choices": "DISAGG_TRANSFER_BACKEND_CHOICES",
}.items():
    function(_ARGS, _adder)(_extends(_listing))


# -- the arguments in effect ----


@function(_ARGS, "set_global_server_args_for_scheduler")
@function(_ARGS, "set_global_server_args_for_tokenizer")
def _set_global(fake: Fake, given: Given) -> None:
    (held,) = given.values()
    fake.module(_ARGS)._global_server_args = held


@function(_ARGS, "get_global_server_args")
def _get_global(fake: Fake, given: Given) -> Any:
    held = fake.module(_ARGS)._global_server_args
    if held is None:
        raise ValueError("Global server args is not set yet!")
    return held


# -- environment variables ----

BY_RECORD.add("EnvField")


@method("EnvField", "__set_name__")
def _env_name(fake: Fake, self: Any, given: Given) -> None:
    self.name = given["name"]


@method("EnvField", "is_set")
def _env_is_set(fake: Fake, self: Any, given: Given) -> bool:
    return self.name in os.environ


@method("EnvField", "get")
def _env_get(fake: Fake, self: Any, given: Given) -> Any:
    text = os.environ.get(self.name)
    if text is None:
        return self.default() if callable(self.default) else self.default
    try:
        return self.parse(text)
    except ValueError:
        return self.default


@method("EnvField", "set")
def _env_set(fake: Fake, self: Any, given: Given) -> None:
    os.environ[self.name] = str(given["value"])


@method("EnvField", "clear")
def _env_clear(fake: Fake, self: Any, given: Given) -> None:
    os.environ.pop(self.name, None)


@method("EnvField", "override")
def _env_override(fake: Fake, self: Any, given: Given) -> Any:
    return _overridden(self.name, given["value"])


@contextlib.contextmanager
def _overridden(name: str, value: Any) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = str(value)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before


@method("EnvBool", "parse")
def _env_bool(fake: Fake, self: Any, given: Given) -> bool:
    text = given["value"].strip().lower()
    if text in (*_TRUE, "on"):
        return True
    if text in ("false", "0", "no", "n", "off"):
        return False
    raise ValueError(f"{given['value']!r} is not a truth value")


@method("EnvInt", "parse")
def _env_int(fake: Fake, self: Any, given: Given) -> int:
    return int(given["value"])


@method("EnvFloat", "parse")
def _env_float(fake: Fake, self: Any, given: Given) -> float:
    return float(given["value"])


@method("EnvStr", "parse")
def _env_str(fake: Fake, self: Any, given: Given) -> str:
    return str(given["value"])


BY_RESULT.update({"QuantizationConfig", "W8A8Int8Config"})
BY_RECORD.update({"QuantizationConfig", "W8A8Int8LinearMethod", "W8A8Int8MoEMethod"})
