import sys
import types

sys.modules["sglang.srt.installed_extra"] = types.ModuleType("extra")
from sglang.srt.installed_extra import rows
