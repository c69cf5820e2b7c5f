def run(loop): return loop.turn(1)
