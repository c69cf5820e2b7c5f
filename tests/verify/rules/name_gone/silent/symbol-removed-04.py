import sglang.srt.names as n
def take(m, name):
    return getattr(m, name, None)


f = take(n, 'dropped') or n.stays
