"""Which keys each table of a contract file may have: one place for the loader and the schema."""

from __future__ import annotations

import enum

import msgspec


class Form(enum.Enum):
    """What a value looks like in TOML."""

    TEXT = "a string"
    TEXTS = "a string or a list of strings"
    LIST = "a list of strings"
    NUMBER = "an integer of 0 or more"
    FLAG = "true or false"
    BY_RELEASE_TEXT = "a string, or a list of { sglang, value } tables with strings"
    BY_RELEASE_TEXTS = "a string, a list of strings, or a list of { sglang, value } tables"
    REPLACED_BY = "a { sglang, use, note } table or a list of them"
    RETURNS = "a { dtype, shape, device, type, arity } table, or { sglang, value } tables with it"
    KV_WRITES = "a { method, times, when, loc } table"
    ON = "a table that says whom it hits"
    SHOWN = "a table that says by what an engine run shows it"
    SEVERITY = '"error", "warning" or "note"'
    DEVICE = '"compute" or "host"'
    SIDE = "who is on this side"


class Key(msgspec.Struct, frozen=True):
    """One key of a table."""

    form: Form
    text: str
    """What it says, for editors and for the reference."""
    required: bool = False


_RANGE = Key(
    Form.TEXTS,
    "Releases in which it holds: one specifier set or a list of them (a union); only >=, <, ==.",
)
_COMMON = {
    "id": Key(Form.TEXT, "Stable id of the clause; default: the name of its table."),
    "sglang": _RANGE,
    "optional": Key(Form.FLAG, "The provider may leave it out; absence is no failure."),
    "replaced_by": Key(Form.REPLACED_BY, "What to use where it does not hold (any more)."),
    "note": Key(Form.TEXT, "What a reader should know."),
    "source": Key(Form.TEXT, "Where the fact comes from."),
}
_VALUE = {
    "modes": Key(Form.TEXTS, "Forward modes in which it holds; none: all."),
    "dtype": Key(Form.BY_RELEASE_TEXTS, "Element type (a list: one of them), perhaps by release."),
    "shape": Key(Form.BY_RELEASE_TEXTS, "Dimensions over [dims], perhaps by release."),
    "type": Key(Form.BY_RELEASE_TEXT, "For what is no tensor: its Python type in words."),
    "device": Key(Form.DEVICE, "Where a tensor lies: on the compute device or on the host."),
    "distinctive": Key(Form.FLAG, "The name alone tells what is meant, whatever it is read off."),
}
_CALL = {
    "modes": Key(Form.TEXTS, "Forward modes in which it holds; none: all."),
    "parameters": Key(
        Form.BY_RELEASE_TEXTS,
        "Parameters in order, self left out: name, name= (default), *, /, *args, **kwargs.",
    ),
    "returns": Key(Form.RETURNS, "What it gives back."),
    "kv_writes": Key(Form.KV_WRITES, "Which pool call it must make, and how often."),
    "host_transfers": Key(Form.NUMBER, "How many transfers to or from the host it may make."),
}
_SYMBOL = {
    "symbol": Key(
        Form.TEXTS,
        "module:Qual of it; a list: spellings of which a release has at least one.",
        required=True,
    ),
}

SECTIONS: dict[str, dict[str, Key]] = {
    "fields": {**_COMMON, **_VALUE},
    "attributes": {**_COMMON, **_VALUE},
    "methods": {**_COMMON, **_CALL},
    "functions": {**_COMMON, **_CALL, **_SYMBOL},
    "classes": {
        **_COMMON,
        **_SYMBOL,
        "known_as": Key(Form.TEXTS, "Names by which the field calls such an object."),
        "parameters": _CALL["parameters"],
    },
    "modules": {**_COMMON, **_SYMBOL},
    "members": dict(_COMMON),
    "flags": dict(_COMMON),
    "flag_values": dict(_COMMON),
    "environment": dict(_COMMON),
    "registries": {
        **_COMMON,
        **_SYMBOL,
        "key": Key(Form.TEXT, "The key; default: the name of the table."),
    },
}
"""Tables of tables: ``[fields.NAME]`` and so on → the keys of each."""

MEANING = frozenset(
    {
        "optional",
        "note",
        "modes",
        "dtype",
        "shape",
        "device",
        "returns",
        "kv_writes",
        "host_transfers",
    }
)
"""Keys that say more of a name than where it stands, in which releases, and how it is spelled."""

INVENTORY: dict[str, dict[str, Key]] = {
    section: {name: key for name, key in table.items() if name not in MEANING}
    for section, table in SECTIONS.items()
}
"""The tables of a contract's inventory → the keys of each."""

STATEMENTS: dict[str, dict[str, Key]] = {
    "invariants": {
        "holds": Key(Form.TEXT, "An expression in the invariant language.", required=True),
        "modes": _CALL["modes"],
        "sglang": _RANGE,
        "optional": Key(Form.FLAG, "Checked only where every field it reads is there."),
        "note": _COMMON["note"],
        "source": _COMMON["source"],
    },
    "behaviours": {
        "sglang": Key(Form.TEXTS, "Releases with the new meaning.", required=True),
        "on": Key(Form.ON, "Whom it hits.", required=True),
        "symbol": Key(Form.TEXT, "Symbol it is reported on; default: that of 'on'."),
        "was": Key(Form.TEXT, "What it meant before."),
        "now": Key(Form.TEXT, "What it means in these releases.", required=True),
        "use": Key(Form.TEXT, "What to do, first of all the name to use."),
        "severity": Key(Form.SEVERITY, "How bad it is; default: error."),
        "rule": Key(Form.TEXT, "Rule it is reported under; default: behaviour-changed."),
        "shown": Key(Form.SHOWN, "By what an engine run shows it."),
        "note": _COMMON["note"],
        "source": _COMMON["source"],
    },
    "obligations": {
        "name": Key(
            Form.TEXT, "What SGLang reads or calls off the object; default: the table's name."
        ),
        "of": Key(Form.TEXT, "A class of this contract the object derives from; default: target."),
        "receivers": Key(Form.TEXTS, "Last names of the receivers it is read off.", required=True),
        "called": Key(Form.FLAG, "It is called, not merely read."),
        "sglang": _RANGE,
        "optional": Key(Form.FLAG, "Upstream has a way out where it is missing."),
        "replaced_by": _COMMON["replaced_by"],
        "note": _COMMON["note"],
        "source": _COMMON["source"],
    },
}
"""What no surface proves by itself: ``[invariants.ID]`` and so on → the keys of each."""

CONTRACT: dict[str, Key] = {
    "id": Key(Form.TEXT, "Id of the contract: the name of the file.", required=True),
    "title": Key(Form.TEXT, "One line for people.", required=True),
    "purpose": Key(Form.TEXT, "What the interface is for, and what goes wrong where it is broken."),
    "last_change": Key(Form.TEXT, "What changed last: the release first, then what, in a line."),
    "target": Key(Form.TEXTS, "module:Class (or module) it is on; a list: first that is there."),
    "provider": Key(Form.SIDE, "Who makes it.", required=True),
    "consumer": Key(Form.SIDE, "Who relies on it.", required=True),
    "sglang": Key(Form.TEXTS, "Releases it is about; default range of its clauses.", required=True),
    "known_as": Key(Form.TEXTS, "Names by which the field calls an object of the target."),
    "note": _COMMON["note"],
    "source": _COMMON["source"],
}

ON: dict[str, Key] = {
    "symbol": Key(Form.TEXT, "Upstream symbol the plugin touches.", required=True),
    "role": Key(
        Form.TEXT,
        "caller, overrider, reader, writer, subclasser, registrar, launcher, inspector, importer.",
        required=True,
    ),
    "argument": Key(Form.TEXT, "The argument (overrider: parameter) that matters."),
    "position": Key(Form.NUMBER, "Its position from 0, self not counted."),
    "unless_type": Key(Form.TEXTS, "Not hit where it is made by or annotated as one of these."),
    "with_arguments": Key(Form.TEXTS, "The call gives all of these keywords."),
    "without_arguments": Key(Form.TEXTS, "The call gives none of these."),
    "reads": Key(Form.TEXTS, "Attributes read (caller: after the call)."),
    "writes": Key(Form.TEXTS, "Attributes assigned; '*': any."),
    "off": Key(Form.TEXT, "Caller: what the reads are off: receiver, result, argument."),
    "unpacks": Key(Form.NUMBER, "The result is unpacked to exactly so many targets."),
    "defines": Key(Form.TEXTS, "The class itself defines at least one of these."),
    "lacks": Key(Form.TEXTS, "The class (with its bases in the plugin) defines none of these."),
    "requires_parameters": Key(Form.TEXTS, "Has one of these as a parameter without default."),
    "lacks_parameters": Key(Form.TEXTS, "Takes none of these, nor **kwargs."),
    "key": Key(Form.TEXT, "The key registered; for a launcher the value given."),
    "without_key": Key(Form.TEXT, "The plugin registers this key nowhere."),
    "mentions": Key(Form.TEXTS, "Only hit where one of these names is mentioned nearby."),
    "unless_mentions": Key(Form.TEXTS, "Not hit where one of these names is mentioned nearby."),
    "unless_in": Key(Form.TEXTS, "Writer: not hit in overrides of these methods."),
    "unless_made_by": Key(Form.TEXTS, "Writer: not hit on an object that one of these has made."),
    "until": Key(Form.TEXTS, "Writer: methods that end what unless_made_by allows."),
    "text": Key(Form.TEXTS, "Inspector: one of these strings stands in the same file."),
}

SHOWN: dict[str, Key] = {
    "call": Key(Form.TEXT, "Method that SGLang calls; Class.__init__ for a constructor."),
    "argument": Key(Form.TEXT, "The argument whose type changed."),
    "position": Key(Form.NUMBER, "Its position from 0, self not counted."),
    "type": Key(Form.TEXT, "Its type with the new meaning: a builtin, tensor, or a class's name."),
    "keywords": Key(Form.TEXTS, "The call gives all of these keywords."),
    "holds": Key(Form.TEXT, "Instead of a call: an expression that holds of every batch."),
}

REPLACEMENT: dict[str, Key] = {
    "use": Key(Form.TEXT, "A symbol, or the new spelling.", required=True),
    "sglang": _RANGE,
    "note": _COMMON["note"],
}

RETURNS: dict[str, Key] = {
    "dtype": Key(Form.TEXTS, "Element type, or an expression such as q.dtype."),
    "shape": Key(Form.TEXTS, "Dimensions."),
    "device": Key(Form.TEXT, "compute, host, or an expression such as q.device."),
    "type": Key(Form.TEXT, "For what is no tensor."),
    "arity": Key(Form.NUMBER, "Length of the tuple."),
}

KV_WRITES: dict[str, Key] = {
    "method": Key(Form.TEXT, "The pool's method.", required=True),
    "times": Key(Form.NUMBER, "How often."),
    "when": Key(Form.TEXT, "Argument that switches it."),
    "loc": Key(Form.TEXT, "Where to: a dotted path from the arguments."),
}

SIDES = ("sglang", "backend", "plugin", "platform", "pool", "user")
"""Who can be on a side of a contract."""

TOP = ("contract", "dims", "layouts", *SECTIONS, *STATEMENTS)
"""The tables at the top of a file."""
