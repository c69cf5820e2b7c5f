"""What a file can hold and still be checked."""

from __future__ import annotations

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
