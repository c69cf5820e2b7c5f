from sglang.srt.calls import start
start(2, 'own')
