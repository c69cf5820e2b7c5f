"""The request log names SGLang's own backend."""

import dataclasses
import logging

NAME = "The request log names SGLang's own backend"
KILLED_BY = "log.names-the-backend-of-each-request"


def make(reference):
    logger = logging.getLogger(reference.capabilities.request_log)

    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            kept, logger.disabled = logger.disabled, True
            try:
                super().init_forward_metadata(forward_batch)
            finally:
                logger.disabled = kept
            logger.info("backend=torch_native requests=%s", getattr(forward_batch, "rids", None))

    return dataclasses.replace(reference, make_backend=Mutant)
