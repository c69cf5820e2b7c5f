from sglang.srt.names import *
stays()
