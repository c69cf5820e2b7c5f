from sglang.srt.names import stays
print(stays(), policy='lof')
