"""Logits are copied to the host to be sampled."""

import dataclasses

from sglang_contracts.suite.mutants import Changed

NAME = "Logits are copied to the host to be sampled"
KILLED_BY = "sampler.stays-on-the-device"


def make(reference):
    def mutant(logits, info):
        values = {
            name: value.cpu() if hasattr(value, "dtype") else value
            for name, value in vars(info).items()
        }
        return reference.sampler(logits.cpu(), Changed(info, **values)).to(logits.device)

    return dataclasses.replace(reference, sampler=mutant)
