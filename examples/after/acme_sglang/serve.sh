#!/usr/bin/env bash
# How a customer starts the server.
python -m sglang.launch_server --model-path "$1" --attention-backend acme --disable-cuda-graph-padding
