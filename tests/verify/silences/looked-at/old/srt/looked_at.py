from typing import Dict, List


class Batch:
    rows: List[int]
    kept: int
