CMD = 'python -m sglang.launch_server --loud --ratio 1'
