import logging

from sglang.srt.turned_off import Batch


def use(batch: Batch):
    try:
        print(batch.lost)
    except KeyError:
        logging.warning("no rows")
