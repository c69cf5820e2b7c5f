from sglang.srt.answers import ask
async def f(x):
    out = await ask(x)
    return out.success
