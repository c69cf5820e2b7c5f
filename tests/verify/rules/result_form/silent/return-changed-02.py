from sglang.srt.calls import hurries
x = hurries(1)
