from sglang.srt.stats import shorter
a, b, c = shorter(1)
