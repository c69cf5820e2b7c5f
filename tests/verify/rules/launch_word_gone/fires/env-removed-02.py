import os
env = dict(os.environ, SGLANG_OLD_SWITCH='1')
