"""Keys of what ``**`` is given, where a function or a class of the plugin tells them."""

from __future__ import annotations

import msgspec

from sglang_contracts.plugin.ir.nodes import Attr, Call, Foreign, NamesOf
from sglang_contracts.plugin.ir.records import File, Form
from sglang_contracts.verify.values.evaluator import Evaluator
from sglang_contracts.verify.values.value import OwnFunctionRef, OwnObject

_OF_FIELDS = frozenset({"asdict", "_asdict", "model_dump", "to_dict"})
"""Functions and methods that give the fields of an object, where the plugin has none so called."""


def completed(evaluator: Evaluator, index: int, form: Form) -> Form:
    """A form with the keywords that are told by what makes its ``**`` arguments."""
    keys = [key for node in form.spread for key in spread_keys(evaluator, index, node)]
    missing = {key: 0 for key in keys if key not in form.keywords}
    if not missing:
        return form
    return msgspec.structs.replace(form, keywords={**form.keywords, **missing})


def spread_keys(evaluator: Evaluator, index: int, node: int) -> list[str]:
    """The keys that a value certainly has as a dict; none where nothing tells."""
    files = evaluator.files
    held = files[index].nodes[node]
    if type(held) is Call:
        callee = files[index].nodes[held.callee]
        form = files[index].forms[held.form]
        for each in evaluator.value(index, held.callee).alternatives:
            return returned_keys(files[each.file], each) if type(each) is OwnFunctionRef else []
        if type(callee) is Foreign and callee.name in _OF_FIELDS and form.positional:
            return fields(evaluator, index, form.positional[0])
        if type(callee) is Attr and callee.name in _OF_FIELDS:
            return fields(evaluator, index, callee.base)
        return []
    if type(held) is NamesOf:
        return fields(evaluator, index, held.base)
    if type(held) is Attr:
        if held.name == "__dict__":
            return fields(evaluator, index, held.base)
        for base in evaluator.value(index, held.base).alternatives:
            if type(base) is not OwnObject:
                return []
            found = evaluator.index.own_method(base.file, base.qual, held.name)
            if found is None or files[found[0]].functions[found[1]].kind != "property":
                return []
            return returned_keys(files[found[0]], OwnFunctionRef(*found, False))
    for value in evaluator.value(index, node).alternatives:
        if type(value) is OwnObject and evaluator.containers.is_typed_dict(value):
            return list(files[value.file].classes[value.qual].declared)
        return []
    return []


def returned_keys(file: File, function: OwnFunctionRef) -> list[str]:
    """Keys that a function's dict has, whichever of its ``return`` statements is reached."""
    record = file.functions[function.function]
    if not record.keys:
        return []
    return [key for key in record.keys[0] if all(key in other for other in record.keys[1:])]


def fields(evaluator: Evaluator, index: int, node: int) -> list[str]:
    """The annotated fields of an object of the plugin's own."""
    found = evaluator.value(index, node).alternatives
    each = found[0] if len(found) == 1 else None
    if type(each) is not OwnObject:
        return []
    record = evaluator.files[each.file].classes.get(each.qual)
    return list(record.declared) if record is not None and not record.open else []
