from sglang.srt.never_stood_in import Loop


class Mine(Loop):
    def turn(self, table, index): return table


def own(mine: Mine):
    return mine.turn(table=1, index=2)
