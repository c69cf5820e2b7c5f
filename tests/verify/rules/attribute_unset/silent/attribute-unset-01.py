from sglang.srt.unset import Keeper


class OwnKeeper(Keeper):
    def reset(self):
        super().reset()
        self.held = [0]
