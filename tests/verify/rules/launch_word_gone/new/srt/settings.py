import os
B = os.environ.get('SGLANG_KEPT')
