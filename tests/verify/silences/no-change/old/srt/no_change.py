def grow(rows, flash_mask: str = ""): return rows


def free(index: int, pool_rows: int, keep: bool = True): return index
