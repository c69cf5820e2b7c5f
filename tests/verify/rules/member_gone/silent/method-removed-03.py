# one of two things that are put there
from sglang.srt.loop import Depot
def f(depot: Depot):
    return depot.shelf.reach()
