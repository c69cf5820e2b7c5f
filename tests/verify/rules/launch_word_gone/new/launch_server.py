from sglang.srt.server_args import ServerArgs
