CMD = ['python', 'x.py', '--going', 'x']
SERVER = ['sglang', 'serve']
