import msgspec


class Ticket(msgspec.Struct):
    name: str = ""
