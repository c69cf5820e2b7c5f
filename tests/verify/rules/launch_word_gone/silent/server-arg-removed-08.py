from sglang.srt.server_args import ServerArgs
def extra():
    if 'lost_arg' in ServerArgs.__dataclass_fields__:
        return {'lost_arg': 1}
    return {}


ServerArgs('m', **extra())
