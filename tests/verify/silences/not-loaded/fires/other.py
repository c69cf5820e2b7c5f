from sglang.srt.not_loaded import fresh
