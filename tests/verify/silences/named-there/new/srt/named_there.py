class Stepper:
    def begin_all(self): return 1
    def go(self): return self.begin_all()


class Turner:
    def turn_all(self): return 1
    def go(self): return self.turn_all()


OLD_NAMES = ["begin", "end"]
