CMD = ['python', '-m', 'sglang.launch_server', '--ratio', '0.5', '--share', '--no-switch']
