from sglang.srt.calls import renamed
renamed(1, group_size=2)
