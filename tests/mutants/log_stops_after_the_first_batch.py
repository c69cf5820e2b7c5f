"""Only the first batch is logged."""

import dataclasses
import logging

NAME = "Only the first batch is logged"
KILLED_BY = "log.names-the-backend-of-each-request"
RELEASES = ">=0.5.11"


def make(reference):
    logger = logging.getLogger(reference.capabilities.request_log)

    class Mutant(reference.make_backend):
        def init_forward_metadata(self, forward_batch):
            kept = logger.disabled
            logger.disabled = self.__dict__.get("_logged", False)
            try:
                super().init_forward_metadata(forward_batch)
            finally:
                logger.disabled, self._logged = kept, True

    return dataclasses.replace(reference, make_backend=Mutant)
