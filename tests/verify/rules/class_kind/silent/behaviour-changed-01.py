import dataclasses

import msgspec
from sglang.srt.kinds import Ticket


def line(ticket: Ticket) -> dict:
    if dataclasses.is_dataclass(ticket):
        return dataclasses.asdict(ticket)
    return msgspec.structs.asdict(ticket)
