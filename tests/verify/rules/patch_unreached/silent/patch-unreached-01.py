from sglang.srt import pu_old


def own_cache(size=0):
    return pu_old.make_cache(size)
