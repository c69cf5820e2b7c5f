import sglang.srt.names as n
def take(m, name):
    return getattr(m, name)


f = take(n, 'dropped')
