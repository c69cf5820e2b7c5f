from typing import Tuple
class Batch:
    rows: int
    def unwrap(self): return self.rows
class Plain:
    pair: int
