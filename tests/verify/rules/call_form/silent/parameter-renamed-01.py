from sglang.srt.calls import renamed
renamed(1, 2)
