NAMES = {"rows": "sglang.srt.text_alone.lost"}
