import sglang.srt.names as n
if hasattr(n, 'dropped'):
    n.dropped()
else:
    n.stays()
