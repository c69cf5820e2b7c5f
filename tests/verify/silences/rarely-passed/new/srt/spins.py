def run(wheel): return wheel.spin(1, deep=True)
