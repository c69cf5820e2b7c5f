class Stepper:
    def begin(self): return 1
    def go(self): return self.begin()


class Turner:
    def turn(self): return 1
    def go(self): return self.turn()
