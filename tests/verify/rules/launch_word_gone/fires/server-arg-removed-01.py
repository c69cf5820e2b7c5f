CMD = ['python', '-m', 'sglang.launch_server', '--lost-arg', '1']
