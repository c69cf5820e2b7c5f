from sglang.srt.test_file import lost
