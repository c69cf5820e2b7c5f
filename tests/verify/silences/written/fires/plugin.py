from sglang.srt.written import Batch

Batch.lost = 2
