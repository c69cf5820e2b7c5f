"""The plugin captures no graphs and has no such methods."""

import dataclasses

NAME = "The plugin captures no graphs and has no such methods"
FAMILIES = (
    "attention-backend.prefill-eq",
    "attention-backend.decode-eq",
    "attention-backend.prefix-is",
    "attention-backend.results-are",
    "attention-backend.free-slots",
    "attention-backend.serves",
    "graph.",
    "decode.cost",
)


def make(reference):
    class Variant(reference.make_backend):
        def init_cuda_graph_state(self, *args):
            raise NotImplementedError("eager alone")

        init_forward_metadata_out_graph = init_cuda_graph_state

    capabilities = dataclasses.replace(reference.capabilities, graph_capture=False)
    return dataclasses.replace(reference, make_backend=Variant, capabilities=capabilities)
