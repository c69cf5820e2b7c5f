"""Launch commands in text files: scripts, images, documents, configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sglang_contracts.plugin.launch.programs import MENTION
from sglang_contracts.plugin.launch.shell_commands import program_of, scan_shell
from sglang_contracts.plugin.launch.word import Word
from sglang_contracts.plugin.launch.yaml_files import yaml_words

_FENCE = re.compile(r"\s*(?:>\s*)?(```+|~~~+)\s*\{?\.?([\w+-]*)")
_INSTRUCTION = re.compile(
    r"^([ \t]*)((?:ONBUILD\s+)?(?:RUN|CMD|ENTRYPOINT|HEALTHCHECK)"
    r"(?:\s+--[\w-]+=\S+)*(?:\s+CMD)?)(?=\s)",
    re.IGNORECASE | re.MULTILINE,
)
_EXEC_FORM = re.compile(r"""\[\s*(?:(?:"(?:[^"\\]|\\.)*"|'[^'\n]*')\s*,?\s*(?:\\\n\s*)?)*\]""")
_MAKE = re.compile(r"^([A-Za-z_]\w*)[ \t]*[:+?]*=[ \t]*([^\n\\]*)$", re.MULTILINE)
_ESCAPES = {"batch": "^", "powershell": "`"}
_PROMPT = re.compile(
    r"^([ \t]*)(\$|>|#|%)(?= (?:python|sglang|docker|[A-Z_]+=|\./|bash))", re.MULTILINE
)


def shell_words(text: str, kind: str) -> list[Word]:
    """Flags of launch commands.

    Args:
        text: The file.
        kind: ``shell``, ``docker``, ``yaml``, ``markdown``, ``make``, ``batch``, ``powershell``,
            or ``arrays``: text with lists of quoted words (TOML, HCL).
    """
    if kind == "yaml":
        return yaml_words(text) if "sglang" in text.lower() else []
    if not MENTION.search(text):
        return []
    if kind == "markdown":
        return _markdown(text)
    if kind == "docker":
        return _docker(text)
    if kind == "arrays":
        return scan_shell(_words_of_lists(text))
    if kind == "make":
        return scan_shell(_MAKE.sub(_as_list, text))
    if kind in _ESCAPES:
        return scan_shell(text, escape=_ESCAPES[kind])
    return scan_shell(text)


def _markdown(text: str) -> list[Word]:
    """Fenced blocks, each in its own language."""
    found: list[Word] = []
    for language, line, block in fences(text):
        shift = line - 1
        kind = _LANGUAGES.get(language, "shell")
        if not MENTION.search(block) or kind == "none":
            continue
        if kind == "python":
            words = _python(block)
        elif kind == "shell":
            words = scan_shell(_PROMPT.sub(lambda m: m.group(1) + " ", block))
        else:
            words = shell_words(block, kind)
        found += [_moved(word, shift) for word in words]
    return found


_LANGUAGES = {
    "python": "python",
    "py": "python",
    "yaml": "yaml",
    "yml": "yaml",
    "dockerfile": "docker",
    "docker": "docker",
    "diff": "none",
    "json": "yaml",
    "text": "none",
    "mermaid": "none",
}


def _python(block: str) -> list[Word]:
    import ast
    import textwrap

    from sglang_contracts.plugin.launch.python_commands import launch_words

    try:
        return launch_words(ast.parse(textwrap.dedent(block)))
    except (SyntaxError, ValueError, RecursionError):
        return scan_shell(block)


def fences(text: str) -> Iterator[tuple[str, int, str]]:
    """The fenced blocks of a document: language, line of the first line in it, text."""
    opened, language, begin = "", "", 0
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        match = _FENCE.match(line)
        if match is None:
            continue
        if not opened:
            opened, language, begin = match.group(1)[:3], match.group(2).lower(), number + 1
        elif match.group(1).startswith(opened):
            yield language, begin, "\n".join(lines[begin - 1 : number - 1])
            opened = ""
    if opened:
        yield language, begin, "\n".join(lines[begin - 1 :])


def _moved(word: Word, lines: int) -> Word:
    import msgspec

    return msgspec.structs.replace(word, line=word.line + lines)


def _docker(text: str) -> list[Word]:
    """Instructions and their exec form as shell, each character at its place."""
    text = _words_of_lists(text)
    entry, command = _last(text, "ENTRYPOINT"), _last(text, "CMD")
    text = _INSTRUCTION.sub(lambda match: ";" + " " * (len(match.group()) - 1), text)
    found = scan_shell(text)
    if entry is not None and command is not None:
        program = program_of(text[slice(*entry)])
        if program:  # what CMD says is added to the entry point
            begin, end = command
            line = text.count("\n", 0, begin) + 1
            found += scan_shell(text[begin:end].replace(";", " ", 1), line, follows=program)
    return list(dict.fromkeys(found))


def _as_list(match: re.Match[str]) -> str:
    """``NAME := words`` of a makefile as a shell's list."""
    return f"{match.group(1)}=({match.group(2)})"


def _words_of_lists(text: str) -> str:
    """Lists of quoted words as words of a shell, each character at its place."""

    def words(match: re.Match[str]) -> str:
        parts = re.split(r'("(?:[^"\\]|\\.)*")', match.group())
        return "".join(
            part if part.startswith('"') else re.sub(r"[\[\],]", " ", part) for part in parts
        )

    return _EXEC_FORM.sub(words, text)


def _last(text: str, instruction: str) -> tuple[int, int] | None:
    """Where the last instruction of a kind begins, and where it ends."""
    found = list(re.finditer(rf"^[ \t]*{instruction}\s", text, re.MULTILINE | re.IGNORECASE))
    if not found:
        return None
    begin = end = found[-1].start()
    while True:
        end = text.find("\n", end)
        if end < 0:
            return begin, len(text)
        if not text[begin:end].rstrip().endswith("\\"):
            return begin, end
        end += 1
