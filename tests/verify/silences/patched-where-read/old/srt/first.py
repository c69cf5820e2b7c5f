def make(size=0):
    return size


def other(size=0):
    return make(size)
