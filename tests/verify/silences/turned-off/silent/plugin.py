import logging

from sglang.srt.turned_off import Batch


def use(batch: Batch):
    try:
        print(batch.lost)
    except AttributeError:
        logging.warning("no rows")
