from sglang.srt.pu_new import make_cache


def start():
    return make_cache(1)
