found = first("sglang.srt.alternative:thing", "sglang.srt.further:thing")
