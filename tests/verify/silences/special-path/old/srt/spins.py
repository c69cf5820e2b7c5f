def run(wheel): return wheel.spin(1)
