from sglang.srt.calls import same
same(1)
