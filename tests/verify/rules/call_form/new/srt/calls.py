def fewer(a, b=1): return a


def renamed(a, group_rows=1): return a


def needs(a, mode): return a


def named(a, *, flag=False): return a


def same(a, b=1, c=None): return a
