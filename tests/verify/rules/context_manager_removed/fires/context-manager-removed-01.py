from sglang.srt.context_manager_removed import paused


def run(model):
    with paused(model) as held:
        return held
