import os
os.environ.update(SGLANG_OLD_SWITCH='1')
