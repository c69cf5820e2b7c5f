from sglang.srt.ignored_keyword import Record

made = Record(kept=1, lost=2)
