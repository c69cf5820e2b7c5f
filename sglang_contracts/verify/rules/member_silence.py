"""Why nothing is said of an attribute that a release lacks."""

from __future__ import annotations

from sglang_contracts.plugin.ir.nodes import Attr
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.surface.model import Class
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.rules import own_writes, supplied
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.plugin_facts import own_members
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.silences.silence import Silence


def silence_of(
    state: Detection, index: int, file: File, use: Use, node: Attr, owner: Symbol, named: str
) -> Silence | None:
    """Why nothing is said of an attribute that a release lacks; None where it is told."""
    base, name = node.base, node.name
    if reasons.OWN_OBJECT.holds(
        holds_other(state, index, base, name) or (bool(named) and own_kind(state, owner, name))
    ):
        return reasons.OWN_OBJECT
    if use.kind is UseKind.READ and reasons.SUPPLIED.holds(
        supplied.supplies_read(state, index, use, base, name, owner)
    ):
        return reasons.SUPPLIED
    if named and reasons.SET_BY_SGLANG.holds(set_upstream(state, named, name)):
        return reasons.SET_BY_SGLANG
    if use.kind is not UseKind.WRITE:
        return None
    if reasons.STILL_READ.holds(still_read(state, owner, name)):
        return reasons.STILL_READ
    if reasons.COMPATIBILITY_WRITE.holds(own_writes.compatibility(file, use, base)):
        return reasons.COMPATIBILITY_WRITE
    if reasons.PUT_WHERE_MISSING.holds(own_writes.put_in(file, use, base, name)):
        return reasons.PUT_WHERE_MISSING
    if reasons.READ_BACK.holds(own_writes.read_back(use, state.last_reads[index])):
        return reasons.READ_BACK
    return None


def still_read(state: Detection, owner: Symbol, name: str) -> bool:
    """Whether the release reads a name off a class or module that does not define it."""
    receiver = (owner.qual or owner.module).rsplit(".", 1)[-1]
    if name in state.lens.readers(receiver):
        return True
    return owner.kind == "class" and any(
        name in read_by(state, each) for each in state.lens.mro(owner)
    )


def read_by(state: Detection, owner: Symbol) -> frozenset[str]:
    """Names that the methods of a class read or call, of whatever."""

    def work() -> frozenset[str]:
        methods = owner.node.methods.values() if isinstance(owner.node, Class) else ()
        return frozenset(name for each in methods for name in (*each.reads, *each.calls))

    return state.lens.once(("read-by", owner.module, owner.qual), work)


def holds_other(state: Detection, index: int, base: int, name: str) -> bool:
    """Whether the plugin itself puts an object that has the name where it reads it.

    What an annotation says of ``item.stats`` is not all there is where the plugin writes
    ``item.stats = Own()`` elsewhere.
    """
    held = state.files[index].nodes[base]
    if type(held) is not Attr:
        return False
    evaluator = state.evaluator
    holder = evaluator.value(index, held.base).alternatives
    for file, node, value in state.assigned.get(held.name, ()):
        written = evaluator.value(file, value)
        if not written.alternatives or evaluator.members.look(written, name).lost:
            continue
        target = state.files[file].nodes[node]
        assert type(target) is Attr
        other = evaluator.value(file, target.base).alternatives
        if not other or not holder or set(other) & set(holder):
            return True
    return False


def own_kind(state: Detection, owner: Symbol, name: str) -> bool:
    """Whether a class of the plugin, called after one that lacks a member, has it.

    Of an object that only its name tells of (``mamba_pool``), the plugin's own ``ElasticMambaPool``
    is as likely the class as ``MambaPool`` is.
    """
    short = owner.qual.rsplit(".", 1)[-1]
    if owner.kind != "class":
        return False
    for number, file in enumerate(state.files):
        for qual in file.classes:
            own = qual.rsplit(".", 1)[-1]
            if own.endswith(short) and own != short and name in own_members(state, number, qual):
                return True
    return False


def set_upstream(state: Detection, receiver: str, name: str) -> bool:
    """Whether the release sets the attribute from outside on what goes by that name."""
    return len(state.lens.writers(receiver).get(name, ())) > 1
