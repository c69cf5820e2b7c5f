from sglang.srt.batch import Batch
from typing import Dict, List, Union
def f(x):
    match x:
        case Batch():
            return x.lost_field
