from sglang.srt.engine import Engine
kw = {'model_path': 'm'}
kw['policy'] = 'lof'
Engine(**kw)
