"""``plan``: what weights and KV pool take of a card, and how many tokens that is."""

from __future__ import annotations

import re
from pathlib import Path

import click

from sglang_contracts.cli import options

_UNITS = {"": 30, "g": 30, "gb": 0, "gib": 30, "m": 20, "mb": 0, "mib": 20}
_DECIMAL = {"gb": 10**9, "mb": 10**6}


class Memory(click.ParamType[int]):
    """An amount of memory: ``64``, ``64GiB``, ``64GB`` (of 10⁹ bytes), ``512MiB``."""

    name = "MEMORY"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Bytes."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d{1,7}(?:\.\d{1,9})?)\s*([a-z]*)", str(value).strip().lower())
        if found is None or found[2] not in _UNITS:
            self.fail(f"'{value}' is no amount of memory: write 64, 64GiB, 64GB or 512MiB")
        factor = _DECIMAL.get(found[2]) or 1 << _UNITS[found[2]]
        return round(float(found[1]) * factor)


@click.command(
    name="plan",
    epilog=options.examples(
        "sglang-contracts plan /models/qwen2.5-32b --tp-size 8 --card-memory 64",
        "sglang-contracts plan config.json --tp-size 8 --card-memory 32 --reserve 1.5 "
        "--requests 128 --context 8192",
        "sglang-contracts plan . --card-memory 64GiB --mem-fraction-static 0.85 --release 0.5.16",
    ),
)
@click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")
@click.option("--card-memory", required=True, type=Memory(), help="Of one card; a number: GiB.")
@click.option("--reserve", type=Memory(), default="0", help="What the driver keeps of a card.")
@click.option(
    "--tp-size",
    "--tp",
    "ranks",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Cards that share the model.",
)
@click.option(
    "--mem-fraction-static",
    "fraction",
    type=float,
    metavar="F",
    help="A card's part for weights and pool.  [default: what SGLang itself would take]",
)
@click.option("--dtype", default="auto", show_default=True, help="As SGLang's --dtype.")
@click.option("--quantization", default="", metavar="NAME", help="As SGLang's --quantization.")
@click.option(
    "--kv-cache-dtype", "kv_dtype", default="auto", show_default=True, help="As SGLang's."
)
@click.option(
    "--page-size",
    type=click.IntRange(1, 1 << 20),
    default=1,
    show_default=True,
    help="Slots of a page.",
)
@click.option("--requests", type=click.IntRange(0), default=0, help="Requests served at once.")
@click.option("--context", type=click.IntRange(0), default=0, help="Tokens of each of them.")
@click.option(
    "--chunked-prefill-size", "chunk", type=click.IntRange(0), default=0, help="As SGLang's."
)
@click.option(
    "--cuda-graph-max-bs",
    "graph",
    type=click.IntRange(0),
    help="Largest batch for which a graph is captured; 0: none.",
)
@click.option(
    "--swa-full-tokens-ratio",
    "swa_ratio",
    type=click.FloatRange(0, 1),
    default=0.8,
    show_default=True,
    help="As SGLang's.",
)
@click.option("--release", "-r", metavar="V", help="A release of SGLang.  [default: the newest]")
@click.option("--strict", is_flag=True, help="Warnings fail, too.")
@options.output_options(options.SHORT_FORMATS)
def command(
    model: Path,
    card_memory: int,
    reserve: int,
    ranks: int,
    fraction: float | None,
    dtype: str,
    quantization: str,
    kv_dtype: str,
    page_size: int,
    requests: int,
    context: int,
    chunk: int,
    graph: int | None,
    swa_ratio: float,
    release: str | None,
    strict: bool,
    output: options.Output,
) -> int:
    """What weights and KV pool take of a card, and how many tokens that is.

    MODEL is a folder with config.json, and safetensors files where they are there: their headers
    alone are read. Nothing is downloaded, and no torch is needed. Exit 1: it would not start (with
    --strict: or requests would queue).
    """
    import msgspec

    from sglang_contracts.planning import Wanted, plan, read_architecture, read_weights
    from sglang_contracts.planning.equations import Equations
    from sglang_contracts.verify.commands.releases import find_release
    from sglang_contracts.verify.findings.finding import Report

    recorded = options.catalog().releases
    shape = read_architecture(model, dtype)
    wanted = Wanted(
        card=card_memory,
        reserved=reserve,
        ranks=ranks,
        fraction=fraction,
        kv_dtype=kv_dtype,
        page_size=page_size,
        requests=requests,
        context=context,
        chunk=chunk,
        graph=graph,
        swa_ratio=swa_ratio,
    )
    weights = read_weights(model, shape, ranks, quantization)
    equations = Equations(find_release(release, recorded) if release else recorded[-1])
    found = plan(shape, weights, wanted, equations)
    severities = {each.severity for each in found.concerns}
    document = msgspec.to_builtins(found)
    del document["concerns"]
    facts = {
        "model": shape.name or model.name,
        "card": card_memory,
        "reserved": reserve,
        "cards": ranks,
        "context": context,
        "weights_source": weights.source,
        "plan": document,
        "concerns": [
            {"id": each.id, "severity": each.severity, "numbers": each.numbers}
            for each in found.concerns
        ],
    }
    output.emit(Report("plan", facts=facts))
    return int("error" in severities or (strict and "warning" in severities))
