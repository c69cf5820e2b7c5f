from sglang.srt.gate import Gate
class Own(Gate):
    def pass_on(self, rows, other): return rows
