from sglang.srt.pu_new import make_cache  # noqa: F401


def size_of(cache):
    return len(cache)
