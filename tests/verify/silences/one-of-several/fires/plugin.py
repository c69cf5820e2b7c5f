from sglang.srt.one_of_several import Core


def use(core: Core):
    return core.part.gone
