"""The backend keeps a copy of the request pool."""

import copy
import dataclasses

NAME = "The backend keeps a copy of the request pool"
KILLED_BY = "attention-backend.keeps-what-core-reads-off-it"
RELEASES = ">=0.5.13"


def make(reference):
    class Mutant(reference.make_backend):
        def __init__(self, model_runner):
            super().__init__(model_runner)
            self.req_to_token_pool = copy.copy(model_runner.req_to_token_pool)

    return dataclasses.replace(reference, make_backend=Mutant)
