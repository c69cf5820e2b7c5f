"""What runs when a release calls an object: ``forward``, and what that dispatches to."""

from __future__ import annotations

LAYER = """
from torch import nn

class Experts(nn.Module):
    def forward(self, x, topk{more}): return x

class FarExperts(Experts):
    pass

def experts_class(config):
    if config:
        return FarExperts
    return Experts
"""
MODELS = """
from sglang.srt.layer import Experts, experts_class

class Small:
    def __init__(self): self.experts = Experts()
    def run(self, x): return self.experts(x, 1)

class Large:
    def __init__(self, config): self.experts = {made}
    def run(self, x): return self.experts(x, 1{given})
"""
OLD = {
    "srt/layer.py": LAYER.format(more=""),
    "srt/models.py": MODELS.format(made="Experts()", given=""),
}
PLUGIN = """
from sglang.srt.layer import Experts

class Own(Experts):
    def forward(self, {takes}): return x
"""
FORWARD = "override-signature sglang.srt.layer:Experts.forward:5"


def new(made: str, given: str = ", scale=2") -> dict[str, str]:
    return {
        "srt/layer.py": LAYER.format(more=", scale=None"),
        "srt/models.py": MODELS.format(made=made, given=given),
    }


def test_an_attribute_that_holds_the_object_is_called_with_more_than_forward_takes(broken_by):
    said = broken_by(OLD, new("Experts()"), PLUGIN.format(takes="x, topk"))
    assert said == [f"error {FORWARD}"]


def test_the_class_of_what_an_attribute_holds_may_be_chosen_by_a_function(broken_by):
    made = "experts_class(config)(1)"
    said = broken_by(OLD, new(made), PLUGIN.format(takes="x, topk"))
    assert said == [f"error {FORWARD}"]


def test_a_forward_that_takes_what_it_is_called_with_is_fine(broken_by):
    assert not broken_by(OLD, new("Experts()"), PLUGIN.format(takes="x, topk, scale=None"))


def test_a_call_of_another_class_under_the_same_attribute_says_nothing(broken_by):
    other = new("Other()")
    other["srt/models.py"] += "\nclass Other:\n    def forward(self, x, topk, scale): return x\n"
    assert not broken_by(OLD, other, PLUGIN.format(takes="x, topk"))


def test_a_new_parameter_that_nobody_passes_breaks_nothing(broken_by):
    assert not broken_by(OLD, new("Experts()", ""), PLUGIN.format(takes="x, topk"))


DISPATCHED = """
from torch import nn

class Op(nn.Module):
    def forward(self, *args, **kwargs): return self._forward_method(*args, **kwargs)
    def dispatch_forward(self): return self.forward_native

class Norm(Op):
    def forward_native(self, x{more}): return x
    def forward_oot(self, x{more}): return self.forward_native(x)
"""
CALLER = """
from sglang.srt.norm import Norm

class Block:
    def __init__(self): self.norm = Norm()
    def run(self, x): return self.norm(x{given})
"""


def test_a_platforms_own_form_is_called_as_the_object_is(broken_by):
    plugin = """
    from sglang.srt.norm import Norm

    class Own(Norm):
        def forward_oot(self, x): return x
    """
    old = {"srt/norm.py": DISPATCHED.format(more=""), "srt/block.py": CALLER.format(given="")}
    more = DISPATCHED.format(more=", residual=None")
    later = {"srt/norm.py": more, "srt/block.py": CALLER.format(given=", residual=x")}
    assert broken_by(old, later, plugin) == [
        "error override-signature sglang.srt.norm:Norm.forward_oot:5"
    ]
