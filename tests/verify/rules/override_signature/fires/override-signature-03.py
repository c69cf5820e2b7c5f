from sglang.srt.loops import Loop
class Own(Loop):
    async def stop(self): return 2
