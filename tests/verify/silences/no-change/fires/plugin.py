from sglang.srt.no_change import free


def use(self, index):
    free(index, self.pool_rows)
