from sglang.srt import names
