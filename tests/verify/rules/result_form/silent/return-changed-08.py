from sglang.srt.answers import ask


async def f(x):
    out = await ask(x)
    try:
        return out.success
    except AttributeError:
        return out[0]
