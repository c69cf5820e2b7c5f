from sglang.srt.context_manager_removed import session


async def run():
    async with session():
        return 1
