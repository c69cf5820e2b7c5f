import torch
class Layer(torch.nn.Module):
    def forward(self, x, deep=False): return x
class Plain:
    def step(self, x, deep=False): return x
def run(layer): return layer.forward(1, deep=True)
def go(plain): return plain.step(1, deep=True)
