from sglang.srt.batch import Batch
from typing import Union
def f(b: Union[Batch, str]):
    if isinstance(b, Batch):
        return 0
    return b.lost_field
