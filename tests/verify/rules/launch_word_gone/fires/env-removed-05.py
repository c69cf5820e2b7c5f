CMD = ['env', 'SGLANG_OLD_SWITCH=1', 'python', '-m', 'sglang.launch_server']
