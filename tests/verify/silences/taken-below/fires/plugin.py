from sglang.srt.taken_below import Tank


def use(tank: Tank):
    return tank.fill(1, deep=True)
