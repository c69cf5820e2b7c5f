CMD = 'python -m sglang.launch_server --quiet 1'
