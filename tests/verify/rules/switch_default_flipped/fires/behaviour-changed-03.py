from sglang.srt.environ import envs
def f():
    return envs.SGLANG_QUICK.get()
