class Hook:
    def wanted(self): return 1
    def run(self): return self.wanted()
class Duty:
    def run(self): return 1
