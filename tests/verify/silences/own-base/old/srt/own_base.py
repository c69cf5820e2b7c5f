class Hook:
    def run(self): return 1
