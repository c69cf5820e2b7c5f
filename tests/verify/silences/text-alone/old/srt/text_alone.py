def lost(): return 1
def kept(): return 1
