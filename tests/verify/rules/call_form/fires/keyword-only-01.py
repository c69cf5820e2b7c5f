from sglang.srt.calls import named
named(1, True)
