from sglang.srt.target import Runner
def put(cls, name):
    setattr(cls, name, 1)


put(Runner, 'x')
