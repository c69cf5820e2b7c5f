import os
ON = os.environ.get('SGLANG_STEADY', '0') == '1'
