def shifted(rows): return rows
def steady(rows): return rows
