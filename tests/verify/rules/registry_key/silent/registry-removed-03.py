from sglang.srt.tables import TABLE
for n in ('beta', 'alpha'):
    if n not in TABLE:
        continue
    print(TABLE[n])
