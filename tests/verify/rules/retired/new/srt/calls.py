def retiring():
    raise RuntimeError('retiring() is gone: use calls.same() instead')
