from sglang.srt.unset import Keeper


class OwnKeeper(Keeper):
    def reset(self):
        self.held = []
