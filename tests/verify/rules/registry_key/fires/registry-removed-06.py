from sglang.srt.tables import TABLE
for n in ('alpha', 'beta'):
    print(TABLE[n])
