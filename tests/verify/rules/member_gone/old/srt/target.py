class Runner:
    def step(self): return 1
    def other(self): return 1
