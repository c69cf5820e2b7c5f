import os
for n in ('SGLANG_OLD_SWITCH', 'B'):
    os.environ.pop(n, None)
