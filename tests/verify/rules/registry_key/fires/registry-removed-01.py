from sglang.srt.tables import TABLE
x = TABLE['beta']
