from sglang.srt.batch import Batch
from typing import Dict, List, Union
from typing import TypeVar
B = TypeVar('B', bound=Batch)
def f(b: B):
    return b.lost_field
