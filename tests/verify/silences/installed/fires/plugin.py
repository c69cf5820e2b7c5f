import sys
import types

sys.modules["sglang.srt.installed_other"] = types.ModuleType("other")
from sglang.srt.installed_extra import rows
