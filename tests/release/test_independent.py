"""The recorded surfaces against a second reader of the wheels that shares no code with the first.

``verify --propose`` could make bounds and surfaces agree by construction. So for random classes of
random releases a plain ``ast`` walk, written apart and as simply as can be, says what is there.
"""

from __future__ import annotations

import ast
import random
import zipfile
from collections import defaultdict

from sglang_contracts.surface.model import Class, Role

PAIRS = 200
SEED = 20261129


def plain_members(source: bytes, name: str) -> dict[str, list[str] | None]:
    """Member → parameter names (None: no method) of a class, by looking at every node of it."""
    members: dict[str, list[str] | None] = {}
    tree = ast.parse(source)
    (found,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    for node in found.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args]
            every += [arguments.vararg] if arguments.vararg else []
            every += arguments.kwonlyargs
            every += [arguments.kwarg] if arguments.kwarg else []
            members[node.name] = [each.arg for each in every]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            members.setdefault(node.target.id, None)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for each in ast.walk(target):
                    if isinstance(each, ast.Name):
                        members.setdefault(each.id, None)
        elif isinstance(node, ast.ClassDef):
            members.setdefault(node.name, None)
    for method in found.body:
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) or not method.args.args:
            continue
        if any(
            isinstance(each, ast.Name) and each.id == "staticmethod"
            for each in method.decorator_list
        ):
            continue
        me = method.args.args[0].arg
        for node in walk(method):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == me
            ):
                members.setdefault(node.attr, None)
    return members


def walk(node: ast.AST):
    """Every node below, but for classes: what they call ``self`` is another object."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.ClassDef):
            yield child
            yield from walk(child)


def test_random_classes_of_random_releases_are_as_a_plain_walk_sees_them(catalog, wheel_of):
    chance = random.Random(SEED)
    chosen = defaultdict(list)
    releases = chance.sample(catalog.releases, 20)
    for _ in range(PAIRS):
        release = chance.choice(releases)
        surface = catalog.surface(release)
        modules = sorted(surface.module_names())
        while True:
            module = chance.choice(modules)
            record = surface.module(module)
            names = [
                name
                for name, node in record.classes.items()
                if not node.condition and not _twice(node)
            ]
            if names:
                chosen[release].append((module, chance.choice(sorted(names))))
                break
    compared = 0
    wrong = []
    for release, classes in sorted(chosen.items()):
        with zipfile.ZipFile(wheel_of(release)) as archive:
            for module, name in classes:
                record = catalog.surface(release).module(module)
                path = module.replace(".", "/") + ("/__init__.py" if record.package else ".py")
                expected = plain_members(archive.read(path), name)
                difference = differences(record.classes[name], expected)
                if difference:
                    wrong.append((release, module, name, difference))
                compared += 1
    assert compared == PAIRS
    assert wrong == []


def _twice(node: Class) -> bool:
    """Whether some member is defined in alternatives: which one counts is a matter of the run."""
    return any(each.condition for each in (*node.methods.values(), *node.attributes.values()))


def differences(recorded: Class, expected: dict[str, list[str] | None]) -> list[str]:
    """What one reader sees and the other does not."""
    names = {*recorded.methods, *recorded.attributes, *recorded.classes}
    # What torch or setattr registers by a string is seen by the recorder only.
    out = [name for name in expected if name not in names]
    out += [
        name
        for name in names - expected.keys()
        if name not in recorded.attributes or recorded.attributes[name].value
    ]
    for name, parameters in expected.items():
        method = recorded.methods.get(name)
        if parameters is None or method is None or method.role & (Role.SETTER | Role.PROPERTY):
            continue
        if method.parameters and [each.name for each in method.parameters] != parameters:
            out.append(f"{name}: {parameters}")
    return out
