"""A declining plugin starts a thread."""

import dataclasses
import threading

NAME = "A declining plugin starts a thread"
KILLED_BY = "platform.declining-costs-nothing"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        found = reference.activate()
        if found is None:
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        return found

    return dataclasses.replace(reference, activate=mutant)
