import os
del os.environ['SGLANG_OLD_SWITCH']
