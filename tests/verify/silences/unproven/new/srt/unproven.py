def shifted(rows): return rows
class Rows: pass
