"""Ignore comments: which code each speaks of."""

import zipfile

import pytest

from sglang_contracts.plugin.reading.ignore_comments import (
    ignores_in,
    read_ignores,
    read_line_ignores,
)

MARK = "# sglang-contracts:"


def spans(text):
    return [(i.line, i.first, i.last, i.rules, i.reason) for i in read_ignores("a.py", text)]


def test_behind_code_it_speaks_of_that_line():
    assert spans(f"a = 1\nb = 2  {MARK} ignore[field-removed] we set it\n") == [
        (2, 2, 2, ("field-removed",), "we set it")
    ]


def test_alone_it_speaks_of_the_next_statement_whole():
    text = f"{MARK} ignore[retired] old path\n\nx = call(\n    1,\n    2,\n)\n"
    assert spans(text) == [(1, 3, 6, ("retired",), "old path")]


def test_inside_a_statement_it_speaks_of_all_of_it():
    text = f"x = call(\n    1,  {MARK} ignore[retired] old path\n    2,\n)\n"
    assert spans(text) == [(2, 1, 4, ("retired",), "old path")]


def test_several_rules_in_one_comment():
    ((*_, rules, reason),) = spans(f"x()  {MARK} ignore[retired, field-removed] both\n")
    assert rules == ("retired", "field-removed")
    assert reason == "both"


@pytest.mark.parametrize("comment", ["ignore retired", "ignore[]", "ignroe[retired] x", ""])
def test_a_form_that_is_not_understood_has_no_rules(comment):
    ((*_, rules, _),) = spans(f"x()  {MARK} {comment}\n")
    assert rules == ()


def test_text_in_a_string_is_no_comment():
    assert spans(f'x = "{MARK} ignore[retired] x"\ny = """\n{MARK} ignore[retired] x\n"""\n') == []


def test_a_file_that_does_not_tokenise_keeps_what_stands_before():
    found = spans(f"x()  {MARK} ignore[retired] x\nif (:\n")
    assert found[0][:3] == (1, 1, 1)


def test_shell_comments_speak_of_their_line_or_the_next():
    text = (
        f"{MARK} ignore[server-arg-removed] later\nsglang serve --a\nb {MARK} ignore[retired] z\n"
    )
    found = read_line_ignores("run.sh", text)
    assert [(i.line, i.first, i.reason) for i in found] == [(1, 2, "later"), (3, 3, "z")]


def test_a_tree_and_a_wheel_give_the_same(tmp_path):
    text = f"import sglang\nx()  {MARK} ignore[retired] y\n"
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "p.py").write_text(text)
    wheel = tmp_path / "p-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("p.py", text)
    assert ignores_in(tree) == ignores_in(wheel)
    assert len(ignores_in(tree)) == 1
