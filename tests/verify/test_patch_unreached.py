"""A patch is told where nobody looks its name up any more, and only there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

OLD = {
    "__init__.py": "",
    "srt/tools.py": """
        def moved(x): return x
        def kept(x): return x
        def taken(x): return x
        def started(x): return x
        class Pool:
            def get(self): return 1
        def run(x): return moved(x), kept(x), Pool()
        """,
    "srt/again.py": """
        from sglang.srt.tools import started
        def launch(process): process(target=started)
        """,
    "srt/engine.py": """
        from sglang.srt.tools import taken
        class Engine:
            def start(self, process): process(target=taken)
        """,
    "srt/plugins/hook_registry.py": """
        class HookRegistry:
            @classmethod
            def register(cls, target, hook, hook_type): pass
        """,
    "srt/user.py": """
        from sglang.srt import tools
        from sglang.srt.tools import started
        def use(x): return tools.kept(x), started(x)
        """,
}
NEW = {
    "__init__.py": "",
    "srt/tools.py": """
        from sglang.srt.made import Pool, kept, moved
        def taken(x): return x
        def started(x): return x
        """,
    "srt/made.py": """
        def moved(x): return x
        def kept(x): return x
        class Pool:
            def get(self): return 1
        def run(x): return moved(x), kept(x), Pool()
        """,
    "srt/again.py": OLD["srt/again.py"],
    "srt/engine.py": """
        from sglang.srt.tools import taken
        class Engine:
            start_func = staticmethod(taken)
            def start(self, process): process(target=self.start_func)
        """,
    "srt/plugins/hook_registry.py": OLD["srt/plugins/hook_registry.py"],
    "srt/user.py": OLD["srt/user.py"],
}
HEAD = """
import importlib
from unittest import mock
from sglang.srt import again, engine, tools
from sglang.srt.plugins.hook_registry import HookRegistry
def own(x): return None
"""
Broken = Callable[[Mapping[str, str], Mapping[str, str], str], list[str]]

TOLD = {
    "a function": ("tools.moved = own", "error patch-unreached sglang.srt.tools:moved"),
    "a class": (
        "class Own: pass\ntools.Pool = Own",
        "error patch-unreached sglang.srt.tools:Pool",
    ),
    "by setattr": (
        "setattr(tools, 'moved', own)",
        "error patch-unreached sglang.srt.tools:moved",
    ),
    "by a module that is imported by name": (
        "importlib.import_module('sglang.srt.tools').moved = own",
        "error patch-unreached sglang.srt.tools:moved",
    ),
    "by mock": (
        "mock.patch('sglang.srt.tools.moved', own).start()",
        "error patch-unreached sglang.srt.tools:moved",
    ),
    "by mock, of a module's attribute": (
        "mock.patch.object(tools, 'moved', own).start()",
        "error patch-unreached sglang.srt.tools:moved",
    ),
    "what a class has taken": (
        "engine.taken = own",
        "warning patch-unreached sglang.srt.engine:taken",
    ),
}
SILENT = {
    "what is only called": "tools.moved(1)",
    "what a module looks up there": "tools.kept = own",
    "what is handed on all along": "again.started = own",
    "a module's name in a loop over both places": (
        "for name in ('sglang.srt.tools', 'sglang.srt.made'):\n"
        "    try:\n"
        "        module = importlib.import_module(name)\n"
        "    except ImportError:\n"
        "        continue\n"
        "    module.moved = own"
    ),
    "what the class has taken is patched, too": (
        "engine.taken = own\n"
        "if hasattr(engine.Engine, 'start_func'):\n"
        "    engine.Engine.start_func = staticmethod(own)"
    ),
    "a hook of SGLang's, which reaches all modules": (
        "HookRegistry.register('sglang.srt.tools.moved', own, 'replace')"
    ),
}


@pytest.mark.parametrize(("text", "told"), TOLD.values(), ids=TOLD.keys())
def test_a_patch_that_reaches_nobody_is_told(text: str, told: str, broken_by: Broken) -> None:
    found = broken_by(OLD, NEW, HEAD + text)
    assert [each.rpartition(":")[0] for each in found] == [told]


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT.keys())
def test_a_patch_that_reaches_somebody_is_not_told(text: str, broken_by: Broken) -> None:
    assert not [each for each in broken_by(OLD, NEW, HEAD + text) if not each.startswith("note ")]
