import os
os.environ['SGLANG_KEPT'] = '1'
os.environ['SGLANG_OURS_ALONE'] = '1'
