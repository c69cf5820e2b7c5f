from sglang.srt.tables import TABLE
NAMES = ('alpha', 'beta')
x = [TABLE[n] for n in NAMES]
