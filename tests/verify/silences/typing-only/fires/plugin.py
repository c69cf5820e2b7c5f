import sglang.srt.typing_only as module

if hasattr(module, "kept"):
    from sglang.srt.typing_only import lost
