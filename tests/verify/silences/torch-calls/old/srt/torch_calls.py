import torch
class Layer(torch.nn.Module):
    def forward(self, x): return x
class Plain:
    def step(self, x): return x
def run(layer): return layer.forward(1)
def go(plain): return plain.step(1)
