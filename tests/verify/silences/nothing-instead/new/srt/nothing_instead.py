class Stepper:
    def go(self): return 1


class Turner:
    def turn_all(self): return 1
    def go(self): return self.turn_all()
