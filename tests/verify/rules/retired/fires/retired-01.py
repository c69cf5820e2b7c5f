from sglang.srt.calls import retiring
retiring()
