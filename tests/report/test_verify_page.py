"""``verify --evidence`` keeps apart what was seen, what is there and what is declared."""

import pytest

from sglang_contracts.report.options import Options
from sglang_contracts.report.pages import verify
from sglang_contracts.verify.findings.finding import Report

KEYS = ("seen", "present", "declared", "contradicted", "absent", "modes")


def row(name, status, **more):
    lists = {key: [] for key in KEYS}
    return {"clause": f"forward-batch/{name}", "status": status, **lists, **more}


ROWS = (
    row("seq_lens", "seen", seen=["0.5.16"], modes=["extend"], absent=["0.5.9"]),
    row("spec_info", "present", present=["0.5.16"]),
    row("mrope_positions", "declared", declared=["0.5.16"]),
    row("hidden_states", "contradicted", contradicted=["0.5.16: dtype int64"], seen=["0.5.9"]),
    row("use_pin_memory", "not-exercised"),
)


@pytest.fixture
def page():
    facts = {"evidence": list(ROWS), "evidence_releases": ["0.5.9", "0.5.16"]}
    return lambda **options: verify.text(Report("verify", facts=facts), Options(**options))


def test_only_what_was_seen_or_is_there_is_confirmed(page):
    text = page()
    assert "shown by engine runs of 0.5.9, 0.5.16:" in text
    (line,) = [line for line in text.splitlines() if line.startswith("  forward-batch")]
    assert " ".join(line.split()) == (
        "forward-batch 2 confirmed (1 seen, 1 present) 1 declared 1 not exercised "
        "1 contradicted 40%"
    )


def test_every_word_is_explained(page):
    for word in ("seen", "present", "declared", "confirmed"):
        assert f"  {word}: " in page()


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("seq_lens", "seen in 0.5.16 (extend); not there in 0.5.9"),
        ("spec_info", "present in 0.5.16"),
        ("mrope_positions", "only declared in 0.5.16"),
        ("hidden_states", "contradicted: 0.5.16: dtype int64"),
        ("use_pin_memory", "not exercised"),
    ],
)
def test_each_clause_has_its_words(page, clause, said):
    assert f"  forward-batch/{clause}: {said}\n" in page(verbose=True)


def test_quiet_leaves_it_out(page):
    assert "shown by" not in page(quiet=True)
