from sglang.srt.stats import Way
x = Way.FIRST
