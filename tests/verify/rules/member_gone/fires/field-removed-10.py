from sglang.srt.batch import Batch
from typing import Dict, List, Union
def f(bs: Dict[str, Batch]):
    b = bs.get('a')
    return 0 if b is None else b.lost_field
