POD = """
command: [python3, -m, sglang.launch_server]
args:
  - --policy
  - fcfs
  - lof
"""
