from sglang.srt.torch_calls import Layer


class Mine(Layer):
    def forward(self, x):
        return x
