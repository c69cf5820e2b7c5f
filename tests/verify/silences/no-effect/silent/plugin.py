import os

os.environ["SGLANG_ROWS"] = "1"
