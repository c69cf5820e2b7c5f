class Spec:
    def draft(self): return 1
def go(spec): return spec.draft() + spec.rows
