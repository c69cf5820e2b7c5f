def f(row_index):
    row_index.lookup([1], True)
    return row_index.gone()
