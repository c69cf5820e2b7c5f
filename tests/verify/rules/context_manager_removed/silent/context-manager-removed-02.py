from sglang.srt.context_manager_removed import paused


def run(model):
    try:
        with paused(model):
            return 1
    except (AttributeError, TypeError):
        paused(model)
        return 1
