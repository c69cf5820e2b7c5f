from sglang.srt.server_args import ServerArgs
ServerArgs('m', lost_arg=1)
