from sglang.srt.meaning import shifted
shifted([1])
