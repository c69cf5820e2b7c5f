from functools import partial
from sglang.srt.calls import renamed
g = partial(renamed, 1)
g()
g(2)
