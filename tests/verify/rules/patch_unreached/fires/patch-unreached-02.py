from unittest import mock


def own_cache(size=0):
    return None


def install():
    return mock.patch("sglang.srt.pu_old.make_cache", own_cache).start()
