from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sglang.srt.typing_only import lost
