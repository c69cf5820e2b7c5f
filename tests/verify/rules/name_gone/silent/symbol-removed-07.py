import sglang.srt.names as n
n.never_was
