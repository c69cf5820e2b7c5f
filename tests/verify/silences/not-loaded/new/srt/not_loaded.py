def kept(): return 1
def fresh(): return 2
