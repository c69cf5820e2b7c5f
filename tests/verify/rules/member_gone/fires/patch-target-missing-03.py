from sglang.srt.target import Runner
def put(cls, name, f):
    setattr(cls, name, f)


put(Runner, 'step', print)
