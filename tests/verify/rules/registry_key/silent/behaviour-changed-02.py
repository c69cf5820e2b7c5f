from sglang.srt.tables import TABLE
if 'gamma' not in TABLE:
    TABLE['gamma'] = 4
