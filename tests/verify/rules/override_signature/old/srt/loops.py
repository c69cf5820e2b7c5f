class Loop:
    def turn(self): return 1
    async def stop(self): return 1
    def move(self, rows, mask=None): return rows
async def run(loop):
    loop.turn()
    await loop.stop()
    loop.move(1, 2)
