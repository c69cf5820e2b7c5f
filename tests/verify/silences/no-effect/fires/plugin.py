from sglang.srt.no_effect import g

g(1)
