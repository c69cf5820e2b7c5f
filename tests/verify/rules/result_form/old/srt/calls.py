from typing import Tuple


def pair(a): return (a, a)


def waits(a) -> int: return a


async def hurries(a) -> int: return a


def inner(a) -> Tuple[Tuple[int, int], str]: return ((a, a), '')
