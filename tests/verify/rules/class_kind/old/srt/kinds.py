import dataclasses


@dataclasses.dataclass
class Ticket:
    name: str = ""
