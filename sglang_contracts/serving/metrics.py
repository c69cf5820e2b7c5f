"""A ``/metrics`` page in Prometheus' text form: names, labels and values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_LINE = re.compile(
    r"^(?P<name>[A-Za-z_:][A-Za-z0-9_:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)(?:\s+\S+)?$"
)
_LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Sample:
    """One line of the page."""

    name: str
    labels: Mapping[str, str]
    value: float


class Metrics(list[Sample]):
    """The lines of a page, in order."""

    @property
    def names(self) -> frozenset[str]:
        """What there is."""
        return frozenset(sample.name for sample in self)

    def of(self, name: str) -> Iterator[Sample]:
        """The samples of one name."""
        return (sample for sample in self if sample.name == name)

    def total(self, name: str) -> float | None:
        """The sum over all labels; None where there is no such name."""
        found = [sample.value for sample in self.of(name)]
        return sum(found) if found else None


def parse(text: str) -> Metrics:
    """Read a page; lines in no known form are left out."""
    found = Metrics()
    for line in text.splitlines():
        match = _LINE.match(line.strip())
        if match is None or line.startswith("#"):
            continue
        try:
            value = float(match["value"])
        except ValueError:
            continue
        found.append(Sample(match["name"], dict(_LABEL.findall(match["labels"] or "")), value))
    return found
