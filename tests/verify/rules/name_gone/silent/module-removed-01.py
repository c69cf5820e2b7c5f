try:
    import sglang.srt.gone as m
except ImportError:
    import sglang.srt.names as m
