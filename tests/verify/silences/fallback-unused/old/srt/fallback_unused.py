def kept(): return 1
def lost(): return 1
def gone(): return 1
