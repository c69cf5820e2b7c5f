import os
os.environ['SGLANG_OLD_SWITCH'] = '1'
