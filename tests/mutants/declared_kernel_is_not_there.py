"""The plugin declares a decode kernel by a name that its SDK does not have."""

import dataclasses

NAME = "A declared kernel is not there"
KILLED_BY = "kernels.prefill-and-decode-take-their-own"


def make(reference):
    module = reference.capabilities.kernels["decode"][0].partition(":")[0]
    kernels = {**reference.capabilities.kernels, "decode": (f"{module}:a_kernel_of_another_sdk",)}
    return dataclasses.replace(
        reference, capabilities=dataclasses.replace(reference.capabilities, kernels=kernels)
    )
