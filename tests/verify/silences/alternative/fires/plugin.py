found = first("sglang.srt.alternative:thing", "sglang.srt.third:thing")
