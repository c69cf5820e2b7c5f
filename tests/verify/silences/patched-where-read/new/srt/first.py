from sglang.srt.second import make  # noqa: F401
