from typing import Dict, List


class Batch:
    rows: Dict[str, int]
    kept: int
