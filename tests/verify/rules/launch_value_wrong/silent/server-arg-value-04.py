CMD = ['python', 'other.py', '--ratio', 'half', '--going', 'x']
SERVER = 'python -m sglang.launch_server --ratio RATIO'
