from sglang.srt.tables import TABLE
assert 'gamma' not in TABLE
TABLE['gamma'] = 4
