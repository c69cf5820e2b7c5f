from sglang.srt.batch import Batch
class Own:
    def g(self, b):
        return b.lost_field
    def f(self, b: Batch):
        return self.g(b)
