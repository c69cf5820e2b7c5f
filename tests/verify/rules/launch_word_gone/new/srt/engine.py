from sglang.srt.server_args import ServerArgs
class Engine:
    def __init__(self, **kwargs):
        self.server_args = ServerArgs(**kwargs)
    def push(self, names): return name
