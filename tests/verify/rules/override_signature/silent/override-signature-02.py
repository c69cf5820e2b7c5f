# it never took what the base takes: whoever calls it knows
from sglang.srt.gate import Gate
class Own(Gate):
    def pass_on(self, scores, ids): return ids
