import os
ON = os.environ.get('SGLANG_QUICK', '1') == '1'
