from sglang.srt.batch import Bag
class Own(Bag):
    def g(self):
        return self.fill([1], extra=2)
