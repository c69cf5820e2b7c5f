import os

os.environ["SGLANG_QUICK"] = "1"
OFF = os.environ.get("SGLANG_QUICK", "0") == "0"
