from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sglang.srt.plugins.hooks import Hook
