import os
OFF = os.environ.get('SGLANG_QUICK', '0') == '0'
