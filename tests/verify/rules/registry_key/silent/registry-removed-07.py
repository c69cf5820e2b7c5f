from sglang.srt.tables import TABLE
x = TABLE['beta'] if 'beta' in TABLE else TABLE['alpha']
