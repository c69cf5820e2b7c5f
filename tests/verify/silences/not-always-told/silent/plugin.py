from sglang.srt.not_always_told import never
