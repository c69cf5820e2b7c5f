def put(rows, phase=None, mask=None): return rows


def free(index: int, keep: bool = True): return index


def grow(rows, attn_mask: str = ''): return rows
