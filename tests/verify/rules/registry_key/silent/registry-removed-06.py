from sglang.srt.tables import TABLE
x = TABLE['alpha']
y = TABLE.get('beta')
