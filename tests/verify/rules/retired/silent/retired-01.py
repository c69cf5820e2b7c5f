from sglang.srt.calls import retiring
f = retiring
