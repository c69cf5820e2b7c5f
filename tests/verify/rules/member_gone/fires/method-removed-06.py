# nothing is of a class that is no more
from sglang.srt.batch import Batch
from typing import TYPE_CHECKING, Union
if TYPE_CHECKING:
    from sglang.srt.names import Mover


def f(b: 'Union[Batch, Mover]'):
    return b.lost_method()
