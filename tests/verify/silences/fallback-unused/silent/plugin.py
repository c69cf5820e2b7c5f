try:
    from sglang.srt.fallback_unused import kept
except ImportError:
    from sglang.srt.fallback_unused import lost as kept
