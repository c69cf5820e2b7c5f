from sglang.srt.batch import Batch
from typing import Dict, List, Union
def f(bs: Dict[str, Batch]):
    return [b.lost_field for b in bs.values()]
