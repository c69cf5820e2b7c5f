import dataclasses

from sglang.srt.kinds import Ticket


def line(ticket: Ticket) -> dict:
    return dataclasses.asdict(ticket)
