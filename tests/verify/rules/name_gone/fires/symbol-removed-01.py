from sglang.srt.names import dropped
dropped()
