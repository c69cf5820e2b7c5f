class Loop:
    def turn(self, rows, mask): return rows


def run(loop: Loop): return loop.turn(1, 2)
