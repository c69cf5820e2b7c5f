import os
A = os.environ.get('SGLANG_OLD_SWITCH')
B = os.environ.get('SGLANG_KEPT')
