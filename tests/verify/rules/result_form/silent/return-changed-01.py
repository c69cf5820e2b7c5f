from sglang.srt.calls import waits
import asyncio
x = waits(1)
asyncio.run(x)
