CMD = ['python', '-m', 'sglang.launch_server', '--ratio', 'half']
