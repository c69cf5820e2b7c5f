from sglang.srt.names import Mover
Mover()
