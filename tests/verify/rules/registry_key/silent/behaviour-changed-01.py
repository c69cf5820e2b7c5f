from sglang.srt.tables import TABLE
TABLE['gamma'] = 4
assert 'delta' not in TABLE
