import os

os.environ["SGLANG_STEADY"] = "1"
OFF = os.environ.get("SGLANG_QUICK", "0") == "0"
