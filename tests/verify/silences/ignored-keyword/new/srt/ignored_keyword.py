from pydantic import BaseModel


class Request(BaseModel):
    kept: int = 0


class Record:
    def __init__(self, kept=0):
        self.kept = kept
