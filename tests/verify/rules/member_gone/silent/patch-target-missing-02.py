from sglang.srt.target import Runner
Runner.marker_of_ours = True
