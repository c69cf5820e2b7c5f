from sglang.srt.api import Engine
Engine(model_path='m', lost_arg=1)
