"""What upstream calls of a plugin: rare calls that count, generators that come too late."""

from __future__ import annotations

ROUTER = """
class Router:
    def empty(self, device{more}): return device
"""
PLUGIN = """
from sglang.srt.router import Router

class Own(Router):
    def empty(self, device): return device
"""


def models(given: str) -> dict[str, str]:
    """Ten modules that call it, one of them with more."""
    plain = "class M:\n    def run(self): return self.router.empty(0)\n"
    found = {f"srt/m{number}.py": plain for number in range(9)}
    return {**found, "srt/m9.py": plain.replace("(0)", f"(0{given})")}


def test_what_one_model_of_many_passes_counts_where_the_method_has_gained_it(broken_by):
    old = {"srt/router.py": ROUTER.format(more=""), **models("")}
    new = {"srt/router.py": ROUTER.format(more=", layer=None"), **models(", layer=1")}
    assert broken_by(old, new, PLUGIN) == [
        "warning override-signature sglang.srt.router:Router.empty:5"
    ]


def test_what_the_method_always_took_and_few_pass_is_only_noted(broken_by):
    old = {"srt/router.py": ROUTER.format(more=", layer=None"), **models("")}
    new = {"srt/router.py": ROUTER.format(more=", layer=None"), **models(", layer=1")}
    assert broken_by(old, new, PLUGIN) == [
        "note override-signature sglang.srt.router:Router.empty:5"
    ]


def test_what_wraps_others_of_its_kind_passes_on_a_special_path_only(broken_by):
    old = {"srt/router.py": ROUTER.format(more=""), **models("")}
    wrapper = (
        models(", layer=1")["srt/m9.py"].replace("router", "full_router")
        + "    def empty(self, device): return device\n"
    )
    new = {**old, "srt/router.py": ROUTER.format(more=", layer=None"), "srt/m9.py": wrapper}
    assert broken_by(old, new, PLUGIN) == [
        "note override-signature sglang.srt.router:Router.empty:5"
    ]


STREAM = """
class Manager:
    def run(self, key): return list(self.wait(key))
    {body}
"""
LAZY = "def wait(self, key): yield self.held[key]"
EAGER = "def wait(self, key): return self.steps(self.held[key])"


def test_a_generator_in_place_of_what_works_when_it_is_called_comes_too_late(broken_by):
    plugin = """
    from sglang.srt.stream import Manager

    class Own(Manager):
        def wait(self, key):
            yield from super().wait(key)
    """
    old, new = ({"srt/stream.py": STREAM.format(body=each)} for each in (LAZY, EAGER))
    assert broken_by(old, new, plugin) == [
        "warning override-signature sglang.srt.stream:Manager.wait:5"
    ]


def test_an_override_that_works_when_it_is_called_is_fine(broken_by):
    plugin = """
    from sglang.srt.stream import Manager

    class Own(Manager):
        def wait(self, key):
            return super().wait(key)
    """
    old, new = ({"srt/stream.py": STREAM.format(body=each)} for each in (LAZY, EAGER))
    assert not broken_by(old, new, plugin)
