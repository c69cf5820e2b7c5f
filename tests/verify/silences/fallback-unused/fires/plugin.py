try:
    from sglang.srt.fallback_unused import gone
except ImportError:
    from sglang.srt.fallback_unused import lost as gone
