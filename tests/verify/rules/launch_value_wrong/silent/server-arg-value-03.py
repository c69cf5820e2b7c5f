CMD = f'python -m sglang.launch_server --ratio {ratio} --share 1'
