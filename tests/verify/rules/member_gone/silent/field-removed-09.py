def f(b):
    return b.lost_field
