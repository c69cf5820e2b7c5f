def kept(): return 1
def __getattr__(name): return name
