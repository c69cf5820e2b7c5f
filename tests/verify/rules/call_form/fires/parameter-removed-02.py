from sglang.srt.calls import fewer
fewer(1, 2, 3)
