import os
os.environ['SGLANG_QUICK'] = '0'
from sglang.srt.environ import envs
x = envs.SGLANG_QUICK.get()
