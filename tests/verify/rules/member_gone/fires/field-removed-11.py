from sglang.srt.batch import Batch
from typing import Dict, List, Union
def f(bs: List[Batch]):
    return max(bs, key=lambda b: b.lost_field)
