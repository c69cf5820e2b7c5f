from sglang.srt.batch import Batch
from typing import Dict, List, Union
def f(bs: List[Batch]):
    *most, last = bs
    return [b.lost_field for b in most]
