"""The certificate's page shows what a plugin said, and nothing of it takes part in the page."""

from __future__ import annotations

import html.parser

import msgspec
import pytest

from sglang_contracts.certify import junit, page
from sglang_contracts.cli import certify as command

STEERING = "\x1b[2J</pre><script>x()</script>\x07 ::error::x\n::set-output::y\n##[group]z \u202e"
WORDS = STEERING + "y" * 900


@pytest.fixture
def hostile(certificate, outcome):
    checks = (
        *(
            outcome(f"a.{kind}", 0, kind, title=WORDS, message=WORDS, reason=WORDS)
            for kind in ("fail", "error", "skip", "expected")
        ),
        outcome("a.omitted", 1, "pass", title=WORDS, omitted=(WORDS,), reproduction=WORDS),
    )
    return msgspec.structs.replace(
        certificate,
        checks=checks,
        issued=msgspec.structs.replace(certificate.issued, by=WORDS, at=WORDS),
        plugin=msgspec.structs.replace(certificate.plugin, name=WORDS, version=WORDS, wheel=WORDS),
        note=WORDS,
        ended=WORDS,
        not_run=(WORDS,),
        environment={WORDS: WORDS},
        capabilities={WORDS: [WORDS, {WORDS: WORDS}]},
        exercised=((WORDS, WORDS, 1),),
        not_exercised=(WORDS,),
    )


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = set()
        self.open = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {
            "class",
            "charset",
            "name",
            "content",
            "lang",
            "open",
        }
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_has_the_elements_and_the_characters_that_are_ours(hostile):
    text = page.render(hostile)
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert "script" not in reader.tags
    assert "details" in reader.tags
    assert all(line.isprintable() for line in text.split("\n"))


def test_the_page_of_an_ordinary_certificate_is_as_it_was(certificate):
    assert "no more" not in page.render(certificate)  # the lines of a message stay lines
    assert "no\\x00\nmore" in page.render(certificate)


def test_what_is_printed_and_the_cases_start_no_command_of_a_ci_log(hostile, capsys):
    command._print(hostile, quiet=False)
    for text in (capsys.readouterr().out, junit.render(hostile)):
        for line in text.split("\n"):
            assert line.isprintable()
            assert not line.lstrip().startswith("::")
            assert "##[" not in line
