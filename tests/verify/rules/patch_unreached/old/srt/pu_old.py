def make_cache(size=0):
    return size


def size_of(cache):
    return make_cache(cache)
