from sglang.srt.left_out import Keeper


class Own(Keeper):
    def reset(self):
        self.held, self.spare = [], []
