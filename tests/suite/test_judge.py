from types import SimpleNamespace

import pytest

from sglang_contracts.suite import judge


@pytest.mark.parametrize("judged", judge.ON_WHAT_CHANGED)
def test_a_bench_that_has_not_looked_proves_nothing(judged):
    with pytest.raises(RuntimeError, match="needs a bench that looks"):
        judged(SimpleNamespace(looks=False), None)
