class Loop:
    def turn(self, rows, mask, deep=False): return rows


def run(loop: Loop): return loop.turn(1, 2, deep=True)
