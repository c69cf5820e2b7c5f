from sglang.srt.batch import Batch
from typing import List
def f(bs: List[Batch]):
    return [b.lost_field for b in bs]
