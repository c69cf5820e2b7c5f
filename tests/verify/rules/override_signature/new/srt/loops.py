class Loop:
    async def turn(self): return 1
    def stop(self): return 1
    def move(self, rows, phase=None, mask=None): return rows
async def run(loop):
    await loop.turn()
    loop.stop()
    loop.move(1, 2)
