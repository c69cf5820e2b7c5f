def run(one): return one.begin()
