import importlib
PLACES = ('sglang.srt.gone', 'sglang.srt.names')


def f():
    for place in PLACES:
        try:
            return importlib.import_module(place)
        except ImportError:
            continue
    raise RuntimeError('neither')
