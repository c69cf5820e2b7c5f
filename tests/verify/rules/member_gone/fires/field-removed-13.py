from sglang.srt.batch import Batch
from typing import Dict, List, Union
class Other: pass
def f(b: Union[Batch, Other]):
    if isinstance(b, Other):
        return 0
    return b.lost_field
