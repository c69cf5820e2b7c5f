import os
def f():
    return os.getenv('SGLANG_QUICK', 'false')
