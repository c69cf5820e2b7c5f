from typing import Tuple


def make(a): return a


def counted(a) -> Tuple[int, int]: return make(a)


def shorter(a) -> Tuple[int, int]: return make(a)


def total():
    one, two, three = counted(1)
    return one
