from sglang.srt.batch import Batch
class Mixin:
    lost_field = 1
    def f(self: Batch):
        return self.lost_field
