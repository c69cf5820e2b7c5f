from sglang.srt.calls import Window
import torch
def f(w: Window):
    rows = w.rows
    if torch.is_tensor(rows):
        return rows.cpu()
    return rows
