import sglang.srt
