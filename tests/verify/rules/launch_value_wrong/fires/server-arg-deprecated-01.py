CMD = ['sglang', 'serve', '--going', 'x']
