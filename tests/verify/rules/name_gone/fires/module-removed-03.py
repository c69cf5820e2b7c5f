import importlib
importlib.import_module('sglang.srt.gone')
