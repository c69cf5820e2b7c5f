"""Settings are read strictly: what is not known is an error, with its line."""

import datetime

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.plugin.reading.settings import find_settings, load_settings, parse_settings

FULL = """\
[project]
name = "kunlun-like"

[tool.sglang-contracts]
supported = ">=0.5.3,<0.5.13"
platform = "kunlun"
plugins = ["kunlun", "kunlun_hooks"]
attention-backend = "kunlun"
exclude = ["vendored/*"]
baseline = "contracts-baseline.json"
fail-on = "warning"
strict = true

[tool.sglang-contracts.known-as]
fb = "sglang.srt.model_executor.forward_batch_info:ForwardBatch"

[tool.sglang-contracts.capabilities]
page-sizes = [1, 16]
mla = false

[[tool.sglang-contracts.accept]]
rule = "field-removed"
symbol = "sglang.srt.model_executor.forward_batch_info:ForwardBatch.x"
reason = "set by our own hook"
expires = 2027-01-31

[[tool.sglang-contracts.accept]]
rule = "*"
symbol = "sglang.srt.layers.*"
reason = "not shipped"
file = "tests/*"

[[tool.sglang-contracts.expected-failures]]
check = "kv-pool.foreign-slots-untouched"
releases = ">=0.5.20"
reason = "kernel bug"
expires = "2027-02-01"
"""


def test_everything_the_design_names_is_read():
    settings = parse_settings(FULL, "pyproject.toml")
    assert settings.supported == ">=0.5.3,<0.5.13"
    assert settings.platform == "kunlun"
    assert settings.plugins == ("kunlun", "kunlun_hooks")
    assert settings.attention_backend == "kunlun"
    assert settings.exclude == ("vendored/*",)
    assert settings.baseline == "contracts-baseline.json"
    assert (settings.fail_on, settings.strict) == ("warning", True)
    assert settings.known_as == {"fb": "sglang.srt.model_executor.forward_batch_info:ForwardBatch"}
    assert settings.capabilities == {"page-sizes": [1, 16], "mla": False}
    first, second = settings.accept
    assert first.expires == datetime.date(2027, 1, 31)
    assert (first.line, second.line) == (21, 27)
    assert second.file == "tests/*"
    (failure,) = settings.expected_failures
    assert failure.check == "kv-pool.foreign-slots-untouched"
    assert failure.expires == datetime.date(2027, 2, 1)


def test_without_the_table_all_is_default():
    settings = parse_settings('[project]\nname = "x"\n', "pyproject.toml")
    assert settings.file == ""
    assert settings.accept == ()


@pytest.mark.parametrize(
    ("text", "line", "says", "hint"),
    [
        ('suported = ">=0.5"', 2, "unknown setting 'suported'", "'supported'"),
        ('attention_backend = "x"', 2, "unknown setting", "'attention-backend'"),
        ('\n\nsupported = ">=0,5"', 4, "'>=0,5' is not a version specifier", ">=0.5.3"),
        ("supported = 5", 2, "must be a string, not an integer", ""),
        ("exclude = [1]", 2, "must be a string", ""),
        ('strict = "yes"', 2, "must be true or false", ""),
        ('fail-on = "errors"', 2, "unknown severity 'errors'", "'error'"),
        ('known-as = { fb = "ForwardBatch" }', 2, "'ForwardBatch' is no symbol", "module:Class"),
        ('known-as = { "f b" = "a.b:C" }', 2, "is no name of a variable", ""),
        ("accept = 3", 2, "must be an array of tables", "[[tool.sglang-contracts.accept]]"),
        (
            '[[tool.sglang-contracts.accept]]\nrule = "field-removed"\nsymbol = "a:b"',
            2,
            "without 'reason'",
            "",
        ),
        (
            '[[tool.sglang-contracts.accept]]\nrule="r"\nsymbol="a:b"\nreason="x"\nreasons="x"',
            6,
            "unknown key in accept 'reasons'",
            "'reason'",
        ),
        (
            '[[tool.sglang-contracts.accept]]\nrule="field-remved"\nsymbol="a:b"\nreason="x"',
            3,
            "unknown rule 'field-remved'",
            "'field-removed'",
        ),
        (
            '[[tool.sglang-contracts.accept]]\nrule="*"\nsymbol="a:b"\nreason="x"\nexpires="soon"',
            6,
            "'soon' is no date",
            "2027-01-31",
        ),
        (
            '[[tool.sglang-contracts.accept]]\nrule="*"\nsymbol="a:b"\nreason=""',
            5,
            "reason is empty",
            "",
        ),
        ("capabilities = []", 2, "must be a table", ""),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text, line, says, hint):
    with pytest.raises(ContractsError) as raised:
        parse_settings(f"[tool.sglang-contracts]\n{text}\n", "p.toml", ["field-removed"])
    assert raised.value.message.startswith(f"p.toml:{line}: ")
    assert says in raised.value.message
    assert hint in raised.value.hint


def test_broken_toml_stops_with_its_line():
    with pytest.raises(ContractsError, match=r"p\.toml: not valid TOML: .*line 2"):
        parse_settings("[tool.sglang-contracts]\nsupported = \n", "p.toml")


def test_settings_that_are_no_table():
    with pytest.raises(ContractsError, match="must be a table"):
        parse_settings('[tool]\nsglang-contracts = "x"\n', "p.toml")


def test_a_file_that_is_no_text_or_not_there(tmp_path):
    bad = tmp_path / "pyproject.toml"
    bad.write_bytes(b"[tool]\n\xff\n")
    with pytest.raises(ContractsError, match=r":2: not UTF-8"):
        load_settings(bad)
    with pytest.raises(ContractsError, match="cannot read"):
        load_settings(tmp_path / "none.toml")


def test_a_byte_order_mark_is_no_error(tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_bytes(b"\xef\xbb\xbf[tool.sglang-contracts]\nplatform = 'k'\n")
    assert load_settings(file).platform == "k"


def test_settings_above_count_only_with_the_table_and_inside_the_repository(tmp_path):
    repository = tmp_path / "repo"
    plugin = repository / "plugins" / "a"
    plugin.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.sglang-contracts]\n")
    (repository / ".git").mkdir()
    assert find_settings(plugin) is None
    (repository / "pyproject.toml").write_text("[project]\n")
    assert find_settings(plugin) is None
    (repository / "pyproject.toml").write_text("[tool.sglang-contracts]\n")
    assert find_settings(plugin) == repository / "pyproject.toml"
    (plugin / "pyproject.toml").write_text("")
    assert find_settings(plugin) == plugin / "pyproject.toml"
    module = plugin / "m.py"
    module.write_text("")
    assert find_settings(module) == plugin / "pyproject.toml"


@pytest.mark.parametrize(
    ("entry", "message", "hint"),
    [
        ("exclude = [1]", "exclude[0] must be a string, not an integer", "quote it"),
        ('exclude = ["a", ""]', "exclude[1] is empty", "leave it out"),
        ('exclude = ""', "exclude is empty", "leave it out"),
        ('strict = "yes"', "strict must be true or false, not a string", "without quotes"),
        ('supported = " "', "supported is empty", "leave it out"),
    ],
)
def test_a_wrong_value_is_named_by_its_setting_and_its_kind(entry, message, hint):
    with pytest.raises(ContractsError) as caught:
        parse_settings(f"[tool.sglang-contracts]\n{entry}\n", "pyproject.toml")
    assert caught.value.message == f"pyproject.toml:2: {message}"
    assert hint in caught.value.hint


def test_a_specifier_of_more_digits_than_python_reads_is_none():
    text = f'[tool.sglang-contracts]\nsupported = ">={"1" * 5000}"\n'
    with pytest.raises(ContractsError, match="is not a version specifier"):
        parse_settings(text, "pyproject.toml")
