from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import sglang.srt.gone
