CMD = ['python', '-m', 'sglang.launch_server', '--tp-size', '2', '--policy', 'fcfs']
