"""A bench of the sizes that serving has, cheap by construction.

Requests get their first tokens by raw index, past the backend, so that 40,000 cached keys cost
milliseconds. The oracle works out some rows of a pass, chosen at the edges where kernels cut their
work; a few keys of a long request weigh as much as all others together, so that one that is left
out shows in every dtype. Each layer has settings of its own.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sglang_contracts.suite import oracle
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.passes import Pass, Request, noise
from sglang_contracts.suite.violation import expect
from sglang_contracts.suite.watched import LAYERS

if TYPE_CHECKING:
    from sglang_contracts.suite.context import Context
    from sglang_contracts.suite.script import Cell, Turn

EDGES = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
"""Lengths at which kernels cut their work."""
NEEDLES = 56
"""Keys of a long request that weigh as much as all others together."""
LONG = 1000
"""Tokens from which on a request has such keys."""
SAMPLE = 40
"""Rows of a pass that are compared."""


def placed(length: int, page: int, seed: int, count: int = NEEDLES) -> list[int]:
    """Positions of a request that are looked at: its ends, edges of pages and blocks, any others.

    Args:
        length: Tokens.
        page: Slots of a page.
        seed: Of the others.
        count: How many.
    """
    edges = {0, length - 1, length - 2, page - 1, page, length // page * page - 1}
    for edge in EDGES:
        edges |= {edge - 1, edge, length - edge, length - edge - 1}
    found = {edge for edge in edges if 0 <= edge < length}
    dice = random.Random(seed)  # noqa: S311 - test data
    while len(found) < min(count, length):
        found.add(dice.randrange(length))
    return sorted(found)


class Large:
    """A bench for few, long requests or for many.

    Args:
        context: The running check's surroundings.
        cell: Dtype, page size, heads.
        tokens: Most tokens of a request.
        slots: Slots of the pool.
        own: For each layer, what is its own: ``window``, ``cap``, ``sinks``.
        high: Slots are given out from the pool's end.
        more: :class:`Bench`'s further arguments.

    Attributes:
        bench: The bench.
        own: As given.
    """

    def __init__(
        self,
        context: Context,
        cell: Cell,
        tokens: int,
        slots: int,
        own: Sequence[Mapping[str, Any]] = ({},) * LAYERS,
        high: bool = False,
        **more: Any,
    ) -> None:
        self.cell, self.own = cell, own
        self.bench = Bench(context, cell, slots=slots, looks=False, tokens=tokens, **more)
        self.bench.layers = [self._layer(index) for index in range(LAYERS)]
        if high:
            self.bench.pages_left.sort()

    def _layer(self, index: int) -> Any:
        bench, own = self.bench, self.own[index]
        options: dict[str, Any] = {"scaling": bench.scales[index]}
        if own.get("window", -1) >= 0:
            options["sliding_window_size"] = own["window"]
        if own.get("cap"):
            options["logit_cap"] = own["cap"]
        return bench.builder.layer(bench.geometry, index, **options)

    def hold(self, number: int, tokens: int) -> Request:
        """A new request with ``tokens`` cached tokens, written by raw index."""
        bench = self.bench
        request = bench.request(number)
        if tokens >= LONG:
            self._weigh(request, tokens)
        taken = bench.take(request, tokens)
        bench.write_row(request, 0)
        for layer in range(LAYERS):
            bench.put(layer, taken, request.k[layer][:tokens], request.v[layer][:tokens])
        return request

    def _weigh(self, request: Request, tokens: int) -> None:
        """Give some keys a direction that every query of the request has, too."""
        dim = self.cell.dims[0]
        places = placed(tokens, self.cell.page_size, request.number)
        for layer in range(LAYERS):
            direction = noise((dim,), 7 + layer)
            direction = direction / direction.norm()
            # A needle's score is so high that all of them weigh what all the others do.
            length = math.sqrt(math.log(tokens / len(places)) / self.bench.scales[layer])
            queries, keys = request.q[layer].clone(), request.k[layer].clone()
            queries += (length * direction).to(queries.dtype)
            keys[places] += (length * direction).to(keys.dtype)
            request.q[layer], request.k[layer] = queries, keys
            if self.cell.latent:
                request.v[layer] = keys[..., : self.cell.latent]

    def more_of(self, layer: int) -> dict[str, Any]:
        """Further keywords of a layer's call."""
        sinks = self.own[layer].get("sinks")
        return {} if sinks is None else {"sinks": self.bench.tensor(sinks, "float32")}

    def run(self, turn: Turn, what: str) -> None:
        """Run all layers of a turn and hold them to the oracle."""
        step = self.bench.step(turn)
        self.bench.prepare(step)
        for layer in range(LAYERS):
            self.compare(self.bench.attend(step, layer, more=self.more_of(layer)), what)

    def compare(self, done: Pass, what: str = "the output") -> None:
        """Hold some rows of a pass to the oracle.

        Raises:
            Violation: Shape, finiteness or values are wrong.
        """
        import numpy

        step, layer, own = done.step, done.layer, self.own[done.layer]
        width = self.cell.heads[0] * self.cell.dims[1]
        where = f"({step.mode}, layer {layer}, {self.cell.label})"
        expect(
            tuple(done.out.shape) == (len(step.loc), width),
            f"{what} has shape {list(done.out.shape)}, expected {[len(step.loc), width]} {where}",
        )
        with self.bench.context.unobserved():
            found = done.out.detach().to("cpu").double().numpy()
        lost = ~numpy.isfinite(found)
        if lost.any():
            number, position = self.bench.owner(step, int(lost.any(axis=1).argmax()))
            expect(
                False,
                f"{what} is not finite in {int(lost.sum())} of {found.size} places; first: request "
                f"{number}, position {position} {where}",
            )
        row = 0
        for request, start, count in zip(step.requests, step.starts, step.counts, strict=True):
            rows = placed(count, self.cell.page_size, request.number, SAMPLE)
            end = start + count
            keys = request.k[layer][:end].double().numpy()
            values = request.v[layer][:end].double().numpy()
            for places in _runs(rows):
                last = start + places[-1] + 1
                wanted = oracle.attention(
                    request.q[layer][start + places[0] : last].double().numpy(),
                    keys[:last],
                    values[:last],
                    self.bench.scales[layer],
                    own.get("window", -1),
                    cap=own.get("cap", 0.0),
                    sinks=own.get("sinks"),
                ).reshape(len(places), -1)
                self._hold(done, wanted, found, row, places, request, start, what)
            row += count

    def _hold(
        self,
        done: Pass,
        wanted: Any,
        found: Any,
        row: int,
        places: list[int],
        request: Request,
        start: int,
        what: str,
    ) -> None:
        import numpy

        error = numpy.abs(found[row + places[0] : row + places[-1] + 1] - wanted)
        allowed = oracle.allowed(wanted, self.cell.dtype)
        over = error / allowed
        if over.max() <= 1:
            return
        token, place = (int(each) for each in numpy.unravel_index(over.argmax(), over.shape))
        position = start + places[0] + token
        expect(
            False,
            f"{what} differs from the float64 oracle by {error[token, place]:.3g} (allowed "
            f"{allowed[token, 0]:.1g}): request {request.number}, position {position} of "
            f"{len(request.slots)}, slot {request.slots[position]}, query head "
            f"{place // self.cell.dims[1]}, layer {done.layer} ({done.step.mode} of "
            f"{len(done.step.requests)} requests, {self.cell.label})",
        )


def _runs(places: list[int]) -> list[list[int]]:
    """Neighbouring positions together: they share the oracle's work."""
    found: list[list[int]] = []
    for place in places:
        if found and place == found[-1][-1] + 1:
            found[-1].append(place)
        else:
            found.append([place])
    return found
