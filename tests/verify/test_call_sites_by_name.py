"""Calls of the release that only a method's name speaks for, and those of modules that know it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

BrokenBy = Callable[..., list[str]]

BASE = """\
from abc import ABC, abstractmethod
class EngineBase(ABC):
    @abstractmethod
    def update(self, tensors, load_format=None): ...
"""
ENGINE = """\
from sglang.base import EngineBase
class Engine(EngineBase):
    def update(self, tensors, load_format=None):
        return tensors
"""
SYNC = """\
from sglang.engine import Engine
def push(engine: Engine, request):
    return engine.update(request{more})
"""
WORKER = """\
class Worker:
    def update_weights(self, request):
        return self.draft_runner.update(request.tensors{more})
"""
PLUGIN = """\
from sglang.base import EngineBase
class Client(EngineBase):
    def update(self, request):
        return self.post(request)
"""


def release(sync: str = "", worker: str = "", knows: bool = True) -> dict[str, str]:
    """A release whose engine is called where it is known, and whose runner has a like method."""
    text = (
        SYNC
        if knows
        else SYNC.replace("from sglang.engine import Engine", "").replace(": Engine", "")
    )
    return {
        "__init__.py": "",
        "base.py": BASE,
        "engine.py": ENGINE,
        "sync.py": text.format(more=sync),
        "worker.py": WORKER.format(more=worker),
    }


MORE = ", load_format='flat'"


def test_call_by_a_module_that_does_not_know_the_class_is_anothers(broken_by: BrokenBy) -> None:
    """A runner's method of the same name takes more: no client of the engine is called so."""
    assert broken_by(release(), release(worker=MORE), PLUGIN) == []


def test_call_by_a_module_that_knows_the_class_counts(broken_by: BrokenBy) -> None:
    """The twin: where the engine is known, it is passed more."""
    told = broken_by(release(), release(sync=MORE), PLUGIN)
    assert told == ["error override-signature sglang.base:EngineBase.update:3"]


def test_call_by_name_counts_where_no_module_knows_the_class(broken_by: BrokenBy) -> None:
    """Where nobody who calls it knows the class, objects are handed to who does not."""
    told = broken_by(release(knows=False), release(worker=MORE, knows=False), PLUGIN)
    assert told == ["error override-signature sglang.base:EngineBase.update:3"]


MODEL = """\
import torch.nn as nn
class Model(nn.Module):
    def {method}(self, ids, positions, batch, embeds=None{more}): ...
"""
OTHER = """\
class Runner:
    def run(self, ids, positions, batch):
        return self.inner_layer.{method}(ids, positions, batch, None, True)
"""
PATCH = """\
from sglang.model import Model
def route(model: Model):
    inner = model.{method}
    def {method}(ids, positions, batch, embeds=None, **kwargs):
        return inner(ids, positions, batch, embeds=embeds, **kwargs)
    model.{method} = {method}
"""


@pytest.mark.parametrize(("method", "told"), [("forward", []), ("step", ["step"])])
def test_forward_of_a_module_is_not_held_against_calls_by_name(
    broken_by: BrokenBy, method: str, told: list[str]
) -> None:
    """``forward`` in place of a model's: torch calls it; a method of another name is called so."""
    old = {"__init__.py": "", "model.py": MODEL.format(method=method, more=""), "other.py": ""}
    new = {
        "__init__.py": "",
        "model.py": MODEL.format(method=method, more=", pooled=False"),
        "other.py": OTHER.format(method=method),
    }
    old["other.py"] = OTHER.format(method=method).replace(", None, True", "")
    found = broken_by(old, new, PATCH.format(method=method))
    assert [each.split(":")[1].rsplit(".", 1)[-1] for each in found] == told
