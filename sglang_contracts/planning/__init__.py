"""Memory planning: from a model's files and a card to weights, KV pool and contexts, without torch.

The equations are those of contract ``memory-planning``, each for the releases that it holds in.
"""

from sglang_contracts.planning.architecture import Architecture, read_architecture
from sglang_contracts.planning.plan import Concern, Plan, Wanted, plan
from sglang_contracts.planning.weights import Weights, read_weights

__all__ = [
    "Architecture",
    "Concern",
    "Plan",
    "Wanted",
    "Weights",
    "plan",
    "read_architecture",
    "read_weights",
]
