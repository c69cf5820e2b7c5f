import sglang.srt.pu_old as pu_old


def own_cache(size=0):
    return None


pu_old.make_cache = own_cache
