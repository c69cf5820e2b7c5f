try:
    from sglang.srt.names import dropped
except ImportError:
    pass
