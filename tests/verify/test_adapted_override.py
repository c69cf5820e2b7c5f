"""A plugin that keeps an old override beside the new one serves releases of both kinds."""

import pytest

from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Severity

OLD = """
    def init_forward_metadata_capture_cuda_graph(
        self, bs, num_tokens, req_pool_indices, seq_lens, encoder_lens, forward_mode, spec_info
    ):
        self.lengths = seq_lens[:bs]
"""
NEW = """
    def init_forward_metadata_out_graph(self, forward_batch, in_capture=False):
        self.lengths = forward_batch.seq_lens
"""
HEAD = """from sglang.srt.layers.attention.base_attn_backend import AttentionBackend
"""
PLAIN = "class Backend(AttentionBackend):"


def severities(tmp_path, source):
    (tmp_path / "plugin.py").write_text(source)
    report = check_plugin(tmp_path, load_catalog(), ["0.5.23"])
    found = report.releases[0].findings
    return [each.severity for each in found if each.rule == "override-orphaned"]


@pytest.mark.parametrize(
    ("source", "severity"),
    [
        (PLAIN + OLD, Severity.ERROR),
        (PLAIN + OLD + NEW, Severity.NOTE),
        (PLAIN + NEW + OLD, Severity.NOTE),
        (f"class Mixin:{NEW}\n\nclass Backend(Mixin, AttentionBackend):{OLD}", Severity.NOTE),
        (f"class Mixin:{NEW}\n\n{PLAIN}{OLD}", Severity.ERROR),
    ],
)
def test_an_old_override_is_a_note_where_its_successor_is_overridden_too(
    tmp_path, source, severity
):
    assert severities(tmp_path, HEAD + source) == [severity]
