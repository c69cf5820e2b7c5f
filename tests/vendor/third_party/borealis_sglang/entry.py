"""What SGLang's entry point names."""

import importlib.util
import os


def activate():
    """The platform's class, on a host with the driver."""
    there = os.environ.get("BOREALIS_EMULATOR") == "1"
    if there or importlib.util.find_spec("borealis_driver"):
        return "borealis_sglang.device:BorealisPlatform"
    return None
