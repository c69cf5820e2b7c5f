from sglang.srt.batch import Batch
class A:
    def __init__(self, b: Batch):
        self.b = b
        self.has = hasattr(b, 'lost_field')
    def f(self):
        return self.b.lost_field if self.has else self.b.kept
