import os
os.environ.pop('SGLANG_OLD_SWITCH', None)
