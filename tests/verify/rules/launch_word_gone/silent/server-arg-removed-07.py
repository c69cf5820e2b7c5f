from sglang.srt.engine import Engine
Engine(model_path='m', tp_size=2, of_our_own=3)
