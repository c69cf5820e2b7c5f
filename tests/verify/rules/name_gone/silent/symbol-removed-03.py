import sglang.srt.names as n
x = getattr(n, 'dropped', n.stays)
