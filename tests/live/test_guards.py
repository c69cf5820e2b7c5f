"""Which imports count as guarded."""

import pytest

from sglang_contracts.live.guards import guarded_lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import a\n", ()),
        ("try:\n    import a\nexcept ImportError:\n    pass\n", ((2, 2),)),
        (
            "try:\n    import a\n    b()\nexcept (KeyError, ModuleNotFoundError):\n    pass\n",
            ((2, 3),),
        ),
        ("try:\n    import a\nexcept Exception as e:\n    pass\n", ((2, 2),)),
        ("try:\n    import a\nexcept:\n    pass\n", ((2, 2),)),
        ("try:\n    import a\nexcept AttributeError:\n    pass\n", ()),
        ("try:\n    pass\nexcept ImportError:\n    import a\n", ((2, 2),)),
        ("with suppress(ImportError):\n    import a\n", ((1, 2),)),
        ("with contextlib.suppress(Exception):\n    import a\n", ((1, 2),)),
        ("with suppress(KeyError):\n    import a\n", ()),
        ("with open(x):\n    import a\n", ()),
        (
            "def f():\n    try:\n        import a\n    except x.ImportError:\n        a = 1\n",
            ((3, 3),),
        ),
    ],
)
def test_guarded_lines_are_those_whose_import_error_is_handled(source, lines):
    assert guarded_lines(source) == lines
