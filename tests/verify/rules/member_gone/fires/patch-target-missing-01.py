from sglang.srt.target import Runner
def mine(self):
    return 2


Runner.step = mine
