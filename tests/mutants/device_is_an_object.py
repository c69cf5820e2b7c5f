"""get_device gives a torch.device, as before 0.5.13."""

import dataclasses
import importlib

import torch

NAME = "get_device gives a torch.device, as before 0.5.13"
KILLED_BY = "platform.answers-about-its-device"
RELEASES = ">=0.5.13"


def make(reference):
    module, _, name = reference.activate().rpartition(".")
    base = getattr(importlib.import_module(module), name)

    class Mutant(base):
        def get_device(self, device_id=0):
            return torch.device(super().get_device(device_id))

    return dataclasses.replace(reference, platform=Mutant)
