from sglang.srt.engine import Engine
Engine(model_path='m', lost_arg=1)
