def put(rows, mask=None): return rows


def free(index: int, pool_rows: Params, keep: bool = True): return index


def grow(rows, flash_mask: str = ''): return rows
