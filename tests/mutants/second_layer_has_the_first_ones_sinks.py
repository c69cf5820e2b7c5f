"""The second layer has the sinks of the first."""

import dataclasses

NAME = "The second layer has the sinks of the first"
KILLED_BY = "attention-backend.layers-keep-their-own-settings"


def make(reference):
    class Mutant(reference.make_backend):
        def forward_extend(self, q, k, v, layer, *args, sinks=None, **kwargs):
            if layer.layer_id == 0:
                self._sinks = sinks
            return super().forward_extend(q, k, v, layer, *args, sinks=self._sinks, **kwargs)

    return dataclasses.replace(reference, make_backend=Mutant)
