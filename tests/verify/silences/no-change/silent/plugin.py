from sglang.srt.no_change import grow


def use(self, rows):
    grow(rows, self.flash_mask)
