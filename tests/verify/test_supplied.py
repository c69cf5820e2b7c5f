"""What the plugin sets itself silences a lost attribute only where the object may be the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

OLD = {
    "__init__.py": "",
    "srt/batch.py": """
        class Batch:
            def __init__(self):
                self.kept = 1
                self.lost = 1
        class Other:
            def __init__(self):
                self.x = 1
        class Sub(Batch):
            pass
        class Backend:
            def run(self, batch: Batch): return batch
        """,
}
NEW = {**OLD, "srt/batch.py": OLD["srt/batch.py"].replace("self.lost = 1", "pass")}
HEAD = "from sglang.srt.batch import Backend, Batch, Other, Sub\n"
READ = """
def read(batch: Batch):
    return batch.lost
"""
Broken = Callable[[Mapping[str, str], Mapping[str, str], str], list[str]]

OTHERS = {
    "an own class that keeps an attribute of that name": """
        class State:
            def __init__(self):
                self.lost = None
        """,
    "records of no known type that go by another name": """
        def fill(record, source):
            record.lost = source.get("lost")
        """,
    "an object of an unrelated upstream class": """
        def fill(other: Other):
            other.lost = 1
        """,
    "a module": """
        import json
        json.lost = 1
        """,
    "an own class that derives from an unrelated one": """
        class Mine(Other):
            def fill(self):
                self.lost = 1
        """,
}
THE_SAME = {
    "an object of the class": "def fill(b: Batch):\n    b.lost = 1\n",
    "an object of a class below it": "def fill(b: Sub):\n    b.lost = 1\n",
    "an object of no known type that goes by the same name": (
        "def fill(batch):\n    batch.lost = 1\n"
    ),
    "the class itself": "Batch.lost = property(lambda self: 1)\n",
    "an own class that derives from it": (
        "class Mine(Batch):\n    def fill(self):\n        self.lost = 1\n"
    ),
    "setattr": "def fill(b: Batch):\n    setattr(b, 'lost', 1)\n",
}


def text(*parts: str) -> str:
    import textwrap

    return HEAD + "\n".join(textwrap.dedent(part) for part in parts)


@pytest.mark.parametrize("other", OTHERS)
def test_a_write_to_another_object_silences_nothing(other: str, broken_by: Broken) -> None:
    [told] = broken_by(OLD, NEW, text(OTHERS[other], READ))
    assert told.startswith("error field-removed sglang.srt.batch:Batch.lost:")


@pytest.mark.parametrize("same", THE_SAME)
def test_a_write_to_what_may_be_the_same_object_supplies_it(same: str, broken_by: Broken) -> None:
    told = broken_by(OLD, NEW, text(THE_SAME[same], READ))
    assert [each for each in told if each.startswith("error field")] == []


def test_a_write_below_the_read_in_its_own_function_comes_too_late(broken_by: Broken) -> None:
    late = "def read(batch: Batch):\n    x = batch.lost\n    batch.lost = 2\n    return x\n"
    told = broken_by(OLD, NEW, text(late))
    assert any(each.startswith("error field-removed") for each in told)
