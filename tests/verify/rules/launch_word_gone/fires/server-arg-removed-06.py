CMD = ['python', '-m', 'sglang.launch_server', '--policy', 'lof']
