from sglang.srt.batch import Batch
class Own(Batch):
    @property
    def lost_field(self):
        return 1
