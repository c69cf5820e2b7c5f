import pytest

from sglang_contracts.contract.locate import Locator

TEXT = '''\
# a comment with [brackets] = "and" keys
[contract]
id = "a" # trailing
title = """
[not.a.header]
key = 1
"""

[fields."odd.name"]
dtype = [
  "int64", # one
  "int32",
]
replaced_by = { use = "x[1]", note = 'y = "z"' }

[[invariants]]
id = "first"
[[invariants]]
id = "second"
[invariants.on]
role = "x"
[a.b]
c.d = 1
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("contract",), 2),
        (("contract", "title"), 4),
        (("fields", "odd.name"), 9),
        (("fields", "odd.name", "dtype", 1), 12),
        (("fields", "odd.name", "replaced_by", "note"), 14),
        (("invariants", 0, "id"), 17),
        (("invariants", 1), 18),
        (("invariants", 1, "on", "role"), 21),
        (("a", "b", "c", "d"), 23),
        (("contract", "nothing"), 2),
        ((), 1),
    ],
)
def test_each_key_has_its_line_and_a_missing_one_that_of_its_table(path, line):
    assert Locator(TEXT).line(path) == line


@pytest.mark.parametrize(
    "text", ["", "[", "a", "=", '"', "[[", "a = [", "a = {", "a = '''", "]", "\\"]
)
def test_text_that_is_no_toml_does_not_hang_it(text):
    assert Locator(text).line(("x",)) == 1
