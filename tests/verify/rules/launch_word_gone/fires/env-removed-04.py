CMD = 'SGLANG_OLD_SWITCH=1 python -m sglang.launch_server --model-path m'
