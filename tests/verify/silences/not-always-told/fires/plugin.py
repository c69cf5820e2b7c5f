from sglang.srt.closed import never
