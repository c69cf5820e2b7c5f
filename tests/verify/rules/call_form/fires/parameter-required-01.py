from sglang.srt.calls import needs
needs(1)
