class Crate:
    def lift(self): return 1
