from unittest import mock

mock.patch("sglang.srt.text_alone.lost", print).start()
