# it was annotated wrongly at first
from sglang.srt.calls import Label, Marker
def f(label: Label):
    return Marker(pattern=label.text)
