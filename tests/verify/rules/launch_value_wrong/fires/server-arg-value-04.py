CMD = ['sglang', 'serve', '--share=1.5']
