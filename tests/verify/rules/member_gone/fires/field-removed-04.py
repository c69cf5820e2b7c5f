from sglang.srt.batch import Batch
from typing import Dict, List, Union
def f(bs: List[Batch]):
    first, *rest = bs
    return first.lost_field
