from sglang.srt.calls import hurries


async def f():
    try:
        return await hurries(1)
    except TypeError:
        return hurries(1)
