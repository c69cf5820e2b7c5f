from sglang.srt.test_file import kept
