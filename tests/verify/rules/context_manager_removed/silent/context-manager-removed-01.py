from sglang.srt.context_manager_removed import Lasting, handed_on, tracing


def run():
    with tracing(), handed_on(), Lasting():
        return 1
