from sglang.srt.batch import Batch
from typing import Dict, List, Union
def f(x):
    match x:
        case Batch() as b:
            return b.lost_field
