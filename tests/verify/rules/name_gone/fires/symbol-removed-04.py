import sglang.srt.names as n
n.dropped()
