from sglang.srt.pu_old import make_cache


def start():
    return make_cache(1)
