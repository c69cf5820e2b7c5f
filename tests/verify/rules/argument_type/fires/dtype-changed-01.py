from sglang.srt.calls import typed
typed(3)
