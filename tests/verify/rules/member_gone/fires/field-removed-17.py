from sglang.srt.batch import Sub
class A:
    def __init__(self, b: Sub):
        self.b = b
    def f(self):
        return self.b.lost_field
