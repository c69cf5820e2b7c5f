from typing import Tuple


def make(a): return a


def counted(a) -> Tuple[int, int, int]: return make(a)


def shorter(a) -> Tuple[int, int, int]: return make(a)
