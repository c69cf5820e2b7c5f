"""Runs ``sglang.launch_server`` in a process that ends when whoever started it is gone."""

from __future__ import annotations

import runpy
import threading

from sglang_contracts.live import memory_limit
from sglang_contracts.live.engine import end_with_parent

if __name__ == "__main__":
    memory_limit.apply()
    threading.Thread(target=end_with_parent, daemon=True).start()
    runpy.run_module("sglang.launch_server", run_name="__main__", alter_sys=True)
