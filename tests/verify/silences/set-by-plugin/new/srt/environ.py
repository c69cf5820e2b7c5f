class EnvBool:
    def __init__(self, default): self.default = default
    def get(self): return self.default
class Envs:
    SGLANG_QUICK = EnvBool(True)
envs = Envs()
