"""What the detections of all causes share: the plugin, the present release, facts of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sglang_contracts.plugin.ir.records import File, Use
from sglang_contracts.verify.answers.outcome import Outcome
from sglang_contracts.verify.rules import own_writes, plugin_facts
from sglang_contracts.verify.rules.guarded import Guards
from sglang_contracts.verify.values.evaluator import Evaluator
from sglang_contracts.verify.values.upstream_calls import UpstreamCalls

DetectUse = Callable[["Detection", int, File, Use], Outcome]
"""How one use of a file (by its index) fares in the present release."""


class Detection:
    """The state that detections read; they are functions over it.

    Args:
        evaluator: Works out values in the present release.
        detect_use: Finds how one use fares; whether an attempt goes through hangs on its uses.
        catches: Way of failing → exceptions whose ``except`` clauses catch it.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        detect_use: DetectUse,
        catches: Mapping[str, frozenset[str]],
    ) -> None:
        self.evaluator = evaluator
        self.lens = evaluator.lens
        self.files = evaluator.files
        self.guards = Guards(
            evaluator, lambda index, file, use: detect_use(self, index, file, use), catches
        )
        self.upstream = UpstreamCalls(evaluator)
        self.written = plugin_facts.written_attributes(self)
        """Attribute → places at which the plugin itself assigns it."""
        self.assigned = plugin_facts.assigned_attributes(self)
        """Attribute → (file, node, value) of what the plugin assigns to it on other objects."""
        self.questioned = [plugin_facts.questioned_values(file) for file in self.files]
        """For each file: values that the plugin looks at, itself or through code not known here."""
        self.last_reads = [own_writes.last_reads(file) for file in self.files]
        """For each file: where each function last reads an attribute."""
        self.constructed = plugin_facts.constructed_classes(self)
        """Own classes (file, name) that the plugin makes instances of itself."""
        self.installed = plugin_facts.installed_classes(self)
        """Own classes that are written to an attribute of upstream, or given to a hook."""
        self.extended = plugin_facts.extended_classes(self)
        """Own classes that other own classes derive from."""
