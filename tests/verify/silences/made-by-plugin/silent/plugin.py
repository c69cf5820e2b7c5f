from sglang.srt.made_by_plugin import Core


class Mine(Core):
    def __init__(self, pool):
        super().__init__(pool)


made = Mine(1)
