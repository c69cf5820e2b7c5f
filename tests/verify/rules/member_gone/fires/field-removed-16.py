from sglang.srt.batch import Batch
from typing import Dict, List, Union
def f(x):
    b: Batch = x
    return b.lost_field
