import sglang.srt.gone
