from sglang.srt.meaning import shifted
def f(Rows):
    return shifted(Rows([1]))
