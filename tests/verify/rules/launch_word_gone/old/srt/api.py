def Engine(*args, **kwargs):
    from sglang.srt.engine import Engine

    return Engine(*args, **kwargs)
