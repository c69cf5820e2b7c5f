CMD = ['python', '-m', 'sglang.launch_server', '--ratio', str(ratio), '--share', share]
