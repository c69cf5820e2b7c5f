from sglang.srt.batch import Batch
from typing import Dict, List, Union
def f(bs: Dict[str, Batch]):
    for k, b in bs.items():
        b.lost_field
