from sglang.srt.ignored_keyword import Request

made = Request(kept=1, lost=2)
