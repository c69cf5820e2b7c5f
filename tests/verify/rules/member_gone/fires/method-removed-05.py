from sglang.srt.loop import row_index
row_index.lookup([1], True)
row_index.gone()
