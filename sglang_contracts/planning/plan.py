"""From weights, a card and flags to the KV pool, and what is of concern about it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sglang_contracts.errors import ContractsError
from sglang_contracts.planning.architecture import ELEMENT_BYTES, Architecture
from sglang_contracts.planning.equations import Equations
from sglang_contracts.planning.weights import Weights, rotary_table

MILLION = 1_000_000
MIB = 1 << 20

KV_BYTES = {"fp8_e5m2": 1, "fp8_e4m3": 1, "int8": 1, "bf16": 2, "bfloat16": 2}
"""Bytes of a cached element by the names of ``--kv-cache-dtype``."""


class Wanted(msgspec.Struct, frozen=True):
    """What is to be served, and on which cards.

    Attributes:
        card: Bytes of a card.
        reserved: Bytes of it that the driver keeps.
        ranks: Cards that share the model (``--tp-size``).
        fraction: ``--mem-fraction-static``; None: what SGLang itself would take.
        kv_dtype: ``--kv-cache-dtype``.
        page_size: ``--page-size``.
        requests: Requests that are served at once; 0: not said.
        context: Tokens of each, prompt and answer; 0: not said.
        chunk: ``--chunked-prefill-size``; 0: what SGLang itself would take.
        graph: Largest batch for which a graph is captured; None: what SGLang itself would take.
        swa_ratio: ``--swa-full-tokens-ratio``.
    """

    card: int
    reserved: int = 0
    ranks: int = 1
    fraction: float | None = None
    kv_dtype: str = "auto"
    page_size: int = 1
    requests: int = 0
    context: int = 0
    chunk: int = 0
    graph: int | None = None
    swa_ratio: float = 0.8


class Concern(msgspec.Struct, frozen=True):
    """Something about a plan that somebody has to know.

    Attributes:
        id: What: a key of :data:`SEVERITIES`.
        numbers: What the sentence on it needs.
    """

    id: str
    numbers: dict[str, float]

    @property
    def severity(self) -> str:
        """``error``: it does not start; ``warning``: it serves badly; ``note``."""
        return SEVERITIES[self.id]


SEVERITIES = {
    "heads-do-not-divide": "error",
    "weights-exceed-card": "error",
    "weights-do-not-fit": "error",
    "rest-does-not-fit": "warning",
    "requests-queue": "warning",
    "context-does-not-fit": "warning",
    "rest-is-small": "note",
    "model-context-does-not-fit": "note",
    "weights-are-estimated": "note",
}
"""Concern → how bad it is, the worst first."""


class Plan(msgspec.Struct, frozen=True):
    """How the memory of a card is divided.

    Attributes:
        release: Whose equations these are.
        attention: ``mha``, ``gqa``, ``mla`` or ``swa``.
        dtype: Of the weights.
        weights: Bytes of the whole model.
        weights_on_card: Bytes on a card, with tables that no checkpoint has.
        kv_bytes_a_token: Bytes of a token in a card's pool.
        fraction: ``--mem-fraction-static``: given, or what SGLang itself would take.
        own_fraction: What SGLang itself would take.
        least_fraction: Below it not even one page is left.
        static: Bytes of a card for weights and pool.
        pool: Bytes of the KV pool; not above 0: the weights do not fit.
        rest: Bytes that are left for activations, graphs and collectives.
        own_rest: What SGLang itself would leave for them.
        tokens: That the pool holds (``max_total_num_tokens``).
        window_tokens: That the pool of layers with a sliding window holds; 0: there is none.
        largest_context: Tokens that one text may have.
        requests: Requests of the wanted context, else of the largest, that fit at once.
        concerns: What is of concern, the worst first.
    """

    release: str
    attention: str
    dtype: str
    weights: int
    weights_on_card: int
    kv_bytes_a_token: int
    fraction: float
    own_fraction: float
    least_fraction: float
    static: int
    pool: int
    rest: int
    own_rest: int
    tokens: int
    window_tokens: int
    largest_context: int
    requests: int
    concerns: tuple[Concern, ...] = ()


def plan(shape: Architecture, weights: Weights, wanted: Wanted, equations: Equations) -> Plan:
    """Divide a card's memory as SGLang does.

    Args:
        shape: The model.
        weights: What its weights take.
        wanted: The cards and the flags.
        equations: Those of a release.

    Raises:
        ContractsError: The release's equations do not cover this model, or a flag is no number
            that SGLang takes.
    """
    _refuse(shape, wanted, equations)
    free = wanted.card - wanted.reserved
    card_mib = wanted.card // MIB
    chunk = wanted.chunk or equations.value("default_chunk", {"card": card_mib})
    sizes = {"card": card_mib, "ranks": wanted.ranks}
    graph = equations.value("default_graph", sizes) if wanted.graph is None else wanted.graph
    own_rest = equations.value(
        "reserve", {"chunk": chunk, "graph": graph, "ranks": wanted.ranks, "card": card_mib}
    )
    own_fraction = max(0.0, round((wanted.card - own_rest) / wanted.card, 3))
    fraction = own_fraction if wanted.fraction is None else wanted.fraction
    taken = weights.per_card + rotary_table(shape)
    millionths = round(fraction * MILLION)
    pool = equations.value("pool", {"free": free, "fraction": millionths, "weights": taken})
    known = _known(shape, wanted)
    name = "mha" if shape.attention == "gqa" else shape.attention
    cell = equations.value(name, known)
    tokens = max(0, equations.value("tokens", {"pool": pool, "cell": cell, "P": wanted.page_size}))
    window = 0
    if shape.attention == "swa":
        window = tokens * known["ratio"] // MILLION // wanted.page_size * wanted.page_size
    largest = min(tokens, shape.context) if shape.context else tokens
    each = wanted.context or largest
    found = Plan(
        release=equations.release,
        attention=shape.attention,
        dtype=shape.dtype,
        weights=weights.total,
        weights_on_card=taken,
        kv_bytes_a_token=cell,
        fraction=fraction,
        own_fraction=own_fraction,
        least_fraction=-(-1000 * (taken + cell * wanted.page_size) // max(1, free)) / 1000,
        static=pool + taken,
        pool=pool,
        rest=free - pool - taken,
        own_rest=own_rest,
        tokens=tokens,
        window_tokens=window,
        largest_context=largest,
        requests=tokens // each if each else 0,
    )
    return msgspec.structs.replace(found, concerns=_concerns(found, shape, weights, wanted))


def _refuse(shape: Architecture, wanted: Wanted, equations: Equations) -> None:
    name = "mha" if shape.attention == "gqa" else shape.attention
    if not equations.knows(name):
        raise ContractsError(
            f"how SGLang {equations.release} divides memory for this model ({name}) is not known",
            "name a later --release",
        )
    if wanted.fraction is not None and not 0 < wanted.fraction < 1:
        raise ContractsError(
            f"--mem-fraction-static {wanted.fraction:g} is no part of a card",
            "give a number between 0 and 1, such as 0.85",
        )
    if wanted.reserved >= wanted.card:
        raise ContractsError("the driver's reserve is the whole card", "give a smaller --reserve")
    if wanted.kv_dtype != "auto" and wanted.kv_dtype not in KV_BYTES:
        raise ContractsError(
            f"--kv-cache-dtype {wanted.kv_dtype} is not known here",
            f"there are auto, {', '.join(KV_BYTES)}",
        )


def _known(shape: Architecture, wanted: Wanted) -> dict[str, int]:
    """The names on the right side of the equations for a token's bytes."""
    own = ELEMENT_BYTES.get(shape.dtype, 2)
    kv_heads = max(1, shape.kv_heads // wanted.ranks)
    return {
        "L": shape.layers - shape.window_layers,
        "Lw": shape.window_layers,
        "Hk": kv_heads,
        "Dk": shape.head_dim,
        "Dv": shape.v_head_dim,
        "Hkw": kv_heads,
        "Dkw": shape.head_dim,
        "Dvw": shape.v_head_dim,
        "R": shape.latent,
        "Dr": shape.rotary,
        "Di": shape.indexer,
        "E": own if wanted.kv_dtype == "auto" else KV_BYTES[wanted.kv_dtype],
        "ratio": round(wanted.swa_ratio * MILLION),
    }


def _concerns(
    found: Plan, shape: Architecture, weights: Weights, wanted: Wanted
) -> tuple[Concern, ...]:
    said: dict[str, Mapping[str, float]] = {}
    if shape.heads % wanted.ranks:
        said["heads-do-not-divide"] = {"heads": shape.heads, "ranks": wanted.ranks}
    if found.least_fraction >= 1:
        said["weights-exceed-card"] = {"weights": found.weights_on_card, "card": wanted.card}
    elif not found.tokens:
        said["weights-do-not-fit"] = {
            "weights": found.weights_on_card,
            "static": found.static,
            "least": found.least_fraction,
        }
    if 2 * found.rest < found.own_rest:
        said["rest-does-not-fit"] = {"rest": found.rest, "own": found.own_rest}
    elif 1.01 * found.rest < found.own_rest:
        said["rest-is-small"] = {"rest": found.rest, "own": found.own_rest}
    if found.tokens:
        if wanted.context > found.largest_context:
            said["context-does-not-fit"] = {
                "context": wanted.context,
                "largest": found.largest_context,
            }
        elif wanted.requests > found.requests:
            said["requests-queue"] = {
                "requests": wanted.requests,
                "fit": found.requests,
                "context": wanted.context or found.largest_context,
            }
        if shape.context > found.tokens:
            said["model-context-does-not-fit"] = {
                "context": shape.context,
                "tokens": found.tokens,
            }
    if weights.source == "shape":
        said["weights-are-estimated"] = {}
    return tuple(Concern(name, dict(said[name])) for name in SEVERITIES if name in said)
