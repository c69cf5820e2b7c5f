from sglang.srt.api import Engine
def f():
    e = Engine(model_path='m')
    e.push(name=1)
