from sglang.srt.tables import TABLE
x = [TABLE[n] for n in ('alpha', 'beta') if n in TABLE]
