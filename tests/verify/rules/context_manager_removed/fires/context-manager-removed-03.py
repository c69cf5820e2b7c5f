from sglang.srt.context_manager_removed import Region


def run():
    with Region():
        return 1
