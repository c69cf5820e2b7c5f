"""What a file can hold and still be checked."""

from __future__ import annotations

from sglang_contracts.plugin.plugin import load_plugin
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin


def test_a_lone_surrogate_in_a_string_stops_nothing(tmp_path):
    (tmp_path / "plugin.py").write_text(
        'x = "\\udcff"\n'
        "from sglang.srt.managers.schedule_batch import ModelWorkerBatch\n"
        'ModelWorkerBatch.get("\\udcff")\n',
        encoding="ascii",
    )
    report = check_plugin(tmp_path, load_catalog(), ["0.5.23"])
    assert [each.rule for each in report.releases[0].findings] == ["symbol-removed"]


def test_what_a_lambda_mentions_stands_in_the_function_around_it(tmp_path):
    (tmp_path / "plugin.py").write_text(
        "def outer(pool):\n    cache = pool.cache\n    return lambda i: cache.conv[i]\n\n\n"
        "def other(pool):\n    return pool.cache\n"
    )
    [file] = load_plugin(tmp_path).files
    named = {
        function.qual: file.mentions.get(number, ())
        for number, function in enumerate(file.functions)
    }
    assert "conv" in named["outer"]
    assert "conv" not in named["other"]
