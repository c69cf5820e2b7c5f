def fewer(a, b=1, extra=None): return a


def renamed(a, group_size=1): return a


def needs(a): return a


def named(a, flag=False): return a


def same(a, b=1): return a
