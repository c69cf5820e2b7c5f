from sglang.srt.calls import start
start(2, backend='own')
start(2, None)
start(2, 'a' + 'b')
