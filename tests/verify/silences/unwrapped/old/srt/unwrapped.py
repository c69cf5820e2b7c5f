from typing import Tuple
class Batch:
    rows: Tuple[int, int]
    def unwrap(self): return self.rows
class Plain:
    pair: Tuple[int, int]
