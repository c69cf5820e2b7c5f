from sglang.srt.torch_calls import Plain


class Mine(Plain):
    def step(self, x):
        return x
