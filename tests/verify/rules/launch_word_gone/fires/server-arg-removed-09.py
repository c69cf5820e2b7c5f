from sglang.srt.engine import Engine
kw = {'model_path': 'm'}
kw.update(policy='lof')
Engine(**kw)
