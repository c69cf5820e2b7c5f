from sglang.srt.unset import Keeper


def reset(self):
    self.held = []


Keeper.reset = reset
