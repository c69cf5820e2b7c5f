"""Launch commands in YAML and JSON: Kubernetes, compose, workflows, charts, maps of arguments.

What a template leaves open (``{{ … }}``) is blanked out or stays a hole. What is no YAML even so is
read as lines of shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sglang_contracts.plugin.launch.arguments import words_of
from sglang_contracts.plugin.launch.programs import MENTION, start
from sglang_contracts.plugin.launch.shell_commands import program_of, scan_shell, scan_tokens
from sglang_contracts.plugin.launch.word import FLAG, HOLE, SERVER, Token, Word

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node, ScalarNode

_COMMANDS = ("entrypoint", "command", "cmd", "run")
_ARGUMENTS = frozenset(
    {"args", "arguments", "command", "cmd", "extraargs", "extra_args", "parameters"}
)
_MAPS = re.compile(
    r"(?:sglang[-_.]?(?:config|args|kwargs|server[-_]args|engine[-_]?kwargs|extra[-_]?args)?"
    r"|(?:sgl[-_]|server[-_]?|engine[-_]?|extra[-_]?)(?:args|kwargs|arguments))\Z",
    re.IGNORECASE,
)
"""Keys under which arguments of the server stand as a map."""
_ENGINE = re.compile(r"sglang", re.IGNORECASE)
_IMAGE = re.compile(r"(?:^|[/:])sglang\b|lmsysorg/sglang", re.IGNORECASE)
_CONTROL = re.compile(r"^[ \t]*(?:\{\{-?.*?-?\}\}|\{%.*?%\})[ \t]*$", re.MULTILINE)
_INLINE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
_DEEPEST = 60


def yaml_words(text: str) -> list[Word]:
    """Flags of launch commands and maps of server arguments."""
    documents = _composed(text)
    if documents is None:
        return scan_shell(text)
    reader = _Reader(text)
    for document in documents:
        reader.walk(document, (), 0)
    return list(dict.fromkeys(reader.found))


def _composed(text: str) -> list[Node] | None:
    """The documents of a file as nodes; None: it is no YAML, not even without its templates."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for attempt in (text, _without_templates(text)):
        try:
            return [each for each in yaml.compose_all(attempt, loader) if each is not None]
        except (yaml.YAMLError, RecursionError, ValueError):
            continue
    return None


def _without_templates(text: str) -> str:
    """The same without what a template engine reads, each character at its place."""
    text = _CONTROL.sub(lambda match: " " * len(match.group()), text)
    return _INLINE.sub(lambda match: HOLE + "_" * (len(match.group()) - 1), text)


class _Reader:
    """One file."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.found: list[Word] = []

    def walk(self, node: Node, path: tuple[str, ...], depth: int) -> None:
        """Look for commands and maps of arguments, whatever they stand in."""
        if depth > _DEEPEST:
            return
        if node.id == "scalar":
            if MENTION.search(node.value):
                self.found += scan_shell(*self._raw(node))
        elif node.id == "sequence":
            self._sequence(node.value, path, depth)
        elif node.id == "mapping":
            self._mapping(node, path, depth)

    def _sequence(self, items: Sequence[Node], path: tuple[str, ...], depth: int) -> None:
        tokens = self._tokens(items)
        if tokens and start(tokens) is not None:
            self.found += scan_tokens(tokens)
            return
        for each in items:
            self.walk(each, path, depth + 1)

    def _mapping(self, node: MappingNode, path: tuple[str, ...], depth: int) -> None:
        pairs = {str(key.value): value for key, value in node.value if key.id == "scalar"}
        program = self._program(pairs)
        for key, value in node.value:
            name = str(key.value) if key.id == "scalar" else ""
            below = (*path, name)
            if program and name.lower() in _ARGUMENTS and not self._starts(value):
                self._arguments(value, program)
            elif value.id == "mapping" and self._is_map(name, path, pairs):
                self._map(value)
            elif (
                "." in name and value.id == "scalar" and re.search(r"engine_kwargs\.sglang\.", name)
            ):
                self._flag(name.rpartition(".")[2], key, value)
            else:
                self.walk(value, below, depth + 1)
        if not path and self._is_config(pairs):
            self._map(node)

    def _program(self, pairs: dict[str, Node]) -> str:
        """The program to which ``args`` of a container belong."""
        lowered = {name.lower(): value for name, value in pairs.items()}
        for name in _COMMANDS:
            value = lowered.get(name)
            if value is not None:
                program = self._starts(value)
                if program:
                    return program
        module = lowered.get("module")  # of an editor's launch configuration
        if module is not None and module.id == "scalar":
            begin = start([Token(module.value, 1, 1)])
            if begin is not None:
                return begin.program
        image = lowered.get("image")
        started = any(name in lowered for name in ("command", "entrypoint"))
        if image is None or started or image.id != "scalar" or "args" not in lowered:
            return ""
        ours = bool(_IMAGE.search(image.value)) and self._only_flags(lowered["args"])
        return SERVER if ours else ""

    def _only_flags(self, node: Node) -> bool:
        tokens = self._tokens(node.value) if node.id == "sequence" else []
        return bool(tokens) and bool(FLAG.match(tokens[0].text.partition("=")[0]))

    def _starts(self, node: Node) -> str:
        if node.id == "scalar":
            return program_of(node.value) or ""
        if node.id == "sequence":
            begin = start(self._tokens(node.value))
            if begin is not None:
                return begin.program
            for each in node.value:
                if each.id == "scalar" and MENTION.search(each.value):
                    return program_of(each.value) or ""
        return ""

    def _arguments(self, node: Node, program: str) -> None:
        """``args:`` of a container: words, lines of words, or a map."""
        if node.id == "scalar":
            self.found += scan_shell(*self._raw(node), follows=program)
        elif node.id == "sequence":
            whole = self._tokens(node.value)
            pieces = [each for each in whole if " " in each.text and each.text.startswith("--")]
            for each in pieces:
                self.found += scan_shell(
                    each.text, each.line, each.column + each.inner, follows=program
                )
            self.found += words_of([each for each in whole if each not in pieces], program)
        elif node.id == "mapping":
            self._map(node)

    def _is_map(self, name: str, path: tuple[str, ...], pairs: dict[str, Node]) -> bool:
        """Whether what stands under a key are arguments of the server by name."""
        if not _MAPS.match(name):
            return False
        if _ENGINE.search(name):
            return True
        around = [*path, *(value.value for value in pairs.values() if value.id == "scalar")]
        return any(_ENGINE.search(str(each)) for each in around)

    def _is_config(self, pairs: dict[str, Node]) -> bool:
        """Whether a document is what ``--config`` reads: flags without their dashes."""
        if not ({"model-path", "model_path"} & pairs.keys()):
            return False
        return all(value.id != "mapping" for value in pairs.values()) and len(pairs) > 1

    def _map(self, node: MappingNode) -> None:
        for key, value in node.value:
            if key.id == "scalar":
                if value.id == "mapping" and _MAPS.match(str(key.value)):
                    self._map(value)
                else:
                    self._flag(str(key.value), key, value)

    def _flag(self, name: str, key: Node, value: Node) -> None:
        flag = "--" + name.removeprefix("--").replace("_", "-")
        if not FLAG.match(flag):
            return
        given: str | None = HOLE
        if value.id == "scalar":
            given = value.value
            if value.tag.endswith((":bool", ":null")):
                given = None  # a switch, as far as can be told
            elif given == "" or HOLE in given or "{{" in given:
                given = HOLE
        mark = key.start_mark
        self.found.append(Word(flag, mark.line + 1, mark.column + 1, given, SERVER))

    def _tokens(self, items: Sequence[Node]) -> list[Token]:
        return list(self._each(items))

    def _each(self, items: Sequence[Node]) -> Iterator[Token]:
        for each in items:
            text = each.value if each.id == "scalar" else HOLE
            mark = each.start_mark
            inner = 1 if each.id == "scalar" and each.style in ('"', "'") else 0
            yield Token(str(text), mark.line + 1, mark.column + 1, inner)

    def _raw(self, node: ScalarNode) -> tuple[str, int, int]:
        """A scalar as it is written, with its place: so each of its words is found at its line."""
        begin, end = node.start_mark, node.end_mark
        if node.style in ("|", ">"):
            lines = self.lines[begin.line + 1 : end.line + (1 if end.column else 0)]
            if node.style == ">":
                lines = [line + " \\" if line.strip() else line for line in lines]
            return "\n".join(lines), begin.line + 2, 1
        if begin.line == end.line:
            shift = 1 if node.style in ('"', "'") else 0
            return node.value, begin.line + 1, begin.column + 1 + shift
        lines = self.lines[begin.line : end.line + 1]
        lines[-1] = lines[-1][: end.column]
        lines[0] = lines[0][begin.column :]
        quote = node.style if node.style in ('"', "'") else ""
        text = "\n".join(line.rstrip("\\") + " \\" for line in lines)[:-2]
        return text.removeprefix(quote).removesuffix(quote), begin.line + 1, begin.column + 1
