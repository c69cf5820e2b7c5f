from sglang.srt.calls import hurries
async def f():
    return await hurries(1)
