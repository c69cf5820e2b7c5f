from sglang.srt.batch import Batch
from typing import Dict, List, Union
class Own:
    b: Batch
    def __init__(self, b):
        self.b = b
    def f(self):
        return self.b.lost_field
