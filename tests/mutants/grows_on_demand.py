"""The pool starts small and grows when a slot is not there."""

import dataclasses

import torch

NAME = "The pool starts small and grows when a slot is not there"
KILLED_BY = "kv-pool.never-grows"


def make(reference):
    class Mutant(reference.kv_pool):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            half = self.size // 2
            self.k_buffer = [buffer[:half].clone() for buffer in self.k_buffer]
            self.v_buffer = [buffer[:half].clone() for buffer in self.v_buffer]

        def set_kv_buffer(self, layer, loc_info, *args, **kwargs):
            needed = int(getattr(loc_info, "loc", loc_info).max()) + 1
            for buffers in (self.k_buffer, self.v_buffer):
                for index, buffer in enumerate(buffers):
                    if len(buffer) < needed:
                        more = buffer.new_zeros(
                            needed + self.page_size - len(buffer), *buffer.shape[1:]
                        )
                        buffers[index] = torch.cat([buffer, more])
            super().set_kv_buffer(layer, loc_info, *args, **kwargs)

    return dataclasses.replace(reference, kv_pool=Mutant)
