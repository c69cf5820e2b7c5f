from sglang.srt.batch import Batch
from typing import Dict, List, Union
class Mixin:
    def f(self: Batch):
        return self.lost_field
