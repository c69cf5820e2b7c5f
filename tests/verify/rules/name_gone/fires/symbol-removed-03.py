from sglang.srt import names
x = names.dropped
