CMD = 'python -m sglang.launch_server --model-path m --lost-arg 1'
