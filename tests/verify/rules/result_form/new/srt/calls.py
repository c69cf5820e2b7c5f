from typing import Tuple


def pair(a): return (a, a, a)


async def waits(a) -> int: return a


def hurries(a) -> int: return a


def inner(a) -> Tuple[Tuple[int, int, int], str]: return ((a, a, a), '')
