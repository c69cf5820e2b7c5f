from sglang.srt.meaning import steady
steady([1])
