from sglang.srt.engine import Engine
Engine(model_path='m', policy='lof')
