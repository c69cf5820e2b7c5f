from importlib.util import find_spec
if find_spec('sglang.srt.gone') is None:
    import sglang.srt.names as m
else:
    import sglang.srt.gone as m
