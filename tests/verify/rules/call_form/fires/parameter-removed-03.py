from sglang.srt.calls import fewer
args = (1, 2, 3)
fewer(*args)
