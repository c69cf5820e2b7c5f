"""What goes by a conventional name is SGLang's only where nothing tells that it is another's."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Severity

SILENT = {
    "an annotation with a class further down": """
        import sglang
        class Channels:
            def __init__(self, scheduler: "Own"):
                self.out = scheduler.send_to_detokenizer
        class Own:
            def __init__(self, out):
                self.send_to_detokenizer = out
        """,
    "one with its parameter": """
        import sglang
        from typing import Generic, TypeVar
        T = TypeVar("T")
        class Channels(Generic[T]):
            def __init__(self, scheduler: "Own[T]"):
                self.out = scheduler.send_to_detokenizer
        class Own(Generic[T]):
            def __init__(self, out):
                self.send_to_detokenizer = out
        """,
    "one that is never worked out": """
        from __future__ import annotations
        import sglang
        def out(scheduler: Own):
            return scheduler.send_to_detokenizer
        class Own:
            send_to_detokenizer = None
        """,
    "a field that arguments never had": """
        import sglang
        def warm(generator, folder):
            server_args = generator.server_args
            server_args.input_save_path = folder
        """,
    "a member of the plugin's own kind of that class": """
        import sglang
        def build(base):
            class ElasticMambaPool(base):
                def available_size(self):
                    return 1
            return ElasticMambaPool
        class Slots:
            def __init__(self, mamba_pool):
                self.mamba_pool = mamba_pool
            def free(self):
                return self.mamba_pool.available_size()
        """,
}
TOLD = {
    "a member that the plugin's own kind lacks": """
        import sglang
        def build(base):
            class ElasticMambaPool(base):
                def grow(self):
                    return 1
            return ElasticMambaPool
        class Slots:
            def __init__(self, mamba_pool):
                self.mamba_pool = mamba_pool
            def free(self):
                return self.mamba_pool.available_size()
        """,
    "a member of a class of the plugin's that is called otherwise": """
        import sglang
        class Allocator:
            def available_size(self):
                return 1
        class Slots:
            def __init__(self, mamba_pool):
                self.mamba_pool = mamba_pool
            def free(self):
                return self.mamba_pool.available_size()
        """,
    "no annotation": """
        import sglang
        class Channels:
            def __init__(self, scheduler):
                self.out = scheduler.send_to_detokenizer
        """,
    "an annotation that nothing binds": """
        import sglang
        class Channels:
            def __init__(self, scheduler: "Scheduler"):
                self.out = scheduler.send_to_detokenizer
        """,
    "a field that arguments have": """
        import sglang
        def warm(generator, folder):
            server_args = generator.server_args
            server_args.page_size = 64
        """,
}


def told(tmp_path: Path, text: str) -> list[str]:
    """Rules of the errors and warnings that a plugin has in 0.5.21."""
    (tmp_path / "plugin.py").write_text(textwrap.dedent(text))
    report = check_plugin(tmp_path, load_catalog(), ["0.5.21"], contracts=load_contracts())
    return [each.rule for each in report.releases[0].findings if each.severity is not Severity.NOTE]


@pytest.mark.parametrize("way", SILENT)
def test_nothing_is_told_of_another_class(tmp_path: Path, way: str) -> None:
    assert told(tmp_path, SILENT[way]) == []


@pytest.mark.parametrize("way", TOLD)
def test_what_nothing_speaks_against_is_told(tmp_path: Path, way: str) -> None:
    assert len(told(tmp_path, TOLD[way])) == 1
