from unittest import mock
mock.patch('sglang.srt.target.Runner.step', lambda self: 1)
