import dataclasses
from typing import Tuple
@dataclasses.dataclass
class Answer:
    success: bool
async def ask(x) -> Tuple[bool, str]: return (True, '')
