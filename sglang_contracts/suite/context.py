"""What a running check has: the subject, the release, the declared cells, Hypothesis."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from sglang_contracts.live.build import Builder
from sglang_contracts.suite.script import Cell, Script
from sglang_contracts.suite.violation import Inapplicable, SubjectError, Violation

if TYPE_CHECKING:
    from sglang_contracts.contract import Clause, Contract
    from sglang_contracts.suite.profile import Profile
    from sglang_contracts.suite.subject import Subject
    from sglang_contracts.surface import Surface

Example = TypeVar("Example")


# One process tests one release: what is read for it is read once.
@functools.cache
def _builder(release: str) -> Builder:
    return Builder(release)


@functools.cache
def _surface(release: str) -> Surface:
    from sglang_contracts.surface import load_catalog

    return load_catalog().surface(release)


@functools.cache
def contracts_by_id() -> dict[str, Contract]:
    """The shipped contracts by id, read once."""
    from sglang_contracts.contract import load_contracts

    return {each.id: each for each in load_contracts()}


@dataclass
class Context:
    """The surroundings of a check.

    Attributes:
        subject: What is under test, its parts imported.
        release: The SGLang release; a fake's number for a fake.
        profile: How much is tried.
        seed: Hypothesis' seed.
        shrink: Whether a failure is made smaller (not for expected failures).
        example: One example to run instead of all: a reproduction.
        used: Passes exercised so far: (mode, dtype, page size).
        cells_used: Labels of the cells that the running check exercised.
        failing: The smallest failing example of the running check.
        skips: Sentences on what the running check left out.
    """

    subject: Subject
    release: str
    profile: Profile
    seed: int = 0
    shrink: bool = True
    example: Any = None
    used: set[tuple[str, str, int]] = field(default_factory=set)
    cells_used: list[str] = field(default_factory=list)
    failing: Any = None
    skips: list[str] = field(default_factory=list)
    _observer: Callable[[], AbstractContextManager[Any]] | None = None
    _blind: Callable[[], AbstractContextManager[Any]] | None = None

    @functools.cached_property
    def builder(self) -> Builder:
        """Makes this release's objects."""
        return _builder(self.release)

    @functools.cached_property
    def surface(self) -> Surface:
        """The release as recorded."""
        return _surface(self.release)

    @functools.cached_property
    def contracts(self) -> dict[str, Contract]:
        """The shipped contracts by id."""
        return contracts_by_id()

    def clause(self, id: str) -> Clause | None:
        """The clause ``contract/clause`` if it holds in this release."""
        contract = self.contracts.get(id.partition("/")[0])
        found = contract.clause(id) if contract else None
        return found if found is not None and found.holds_in(self.release) else None

    def since(self, release: str) -> bool:
        """Whether this release is that one or newer."""
        return self.builder.differences.since(release)

    # Cells.

    def cells(self, *, mha_values: bool = True, latent: bool = True) -> tuple[Cell, ...]:
        """What is to be tried of what the plugin declares, the simplest first.

        Args:
            mha_values: Also those whose values have another head dim than the keys.
            latent: Also those of latent keys (MLA), if the plugin declares them.

        Raises:
            Inapplicable: The plugin declares nothing of that.
        """
        kinds = self.subject.capabilities.pool_kinds
        found = self._head_cells(mha_values) if "mha" in kinds else ()
        if latent and "mla" in kinds:
            found += self.latent_cells()
        if not found:
            raise Inapplicable("the plugin declares no pool of keys and values: 'pool-kinds'")
        return found

    def latent_cells(self) -> tuple[Cell, ...]:
        """Cells of latent keys: one vector a slot, whose first elements are the values."""
        declared = self.subject.capabilities
        pages = declared.page_sizes
        if not self.profile.all_cells and "mha" in declared.pool_kinds:
            pages = tuple(dict.fromkeys((pages[0], pages[-1])))
        found = []
        for index, (page, (rank, rope)) in enumerate(
            itertools.product(pages, declared.latent_dims)
        ):
            dtype = declared.dtypes[index % len(declared.dtypes)]
            queries = declared.heads[index % len(declared.heads)][0]
            found.append(Cell(dtype, page, (queries, 1), (rank + rope, rank), rank))
        return tuple(found)

    def _head_cells(self, mha_values: bool) -> tuple[Cell, ...]:
        found = self.subject.capabilities
        dims = [d for d in found.head_dims if mha_values or d[0] == d[1]]
        if not self.since("0.5.7"):  # kv-pool-mha/v_head_dim: before, one head dim for both
            if any(d[0] != d[1] for d in dims):
                self.skip_part(
                    f"SGLang {self.release} has no pool whose values have their own head dim"
                )
            dims = [d for d in dims if d[0] == d[1]]
        if not dims:
            raise Inapplicable(f"no declared head dim applies to SGLang {self.release}")
        axes: tuple[Sequence[Any], ...] = (found.dtypes, found.page_sizes, found.heads, dims)
        if self.profile.all_cells:
            # Each dtype with each page size, and the shapes in turn: two of them for each pair.
            shapes = list(itertools.product(found.heads, dims))
            turns = (0, len(shapes) // 2)
            points = [
                (*pair, *shapes[(index + turn) % len(shapes)])
                for index, pair in enumerate(itertools.product(found.dtypes, found.page_sizes))
                for turn in turns
            ]
            points += [(found.dtypes[0], found.page_sizes[0], *shape) for shape in shapes]
        else:
            points = [
                tuple(axis[index % len(axis)] for axis in axes)
                for index in range(max(len(axis) for axis in axes))
            ]
            dtype, _, head, dim = (axis[0] for axis in axes)
            points += [(dtype, page, head, dim) for page in found.page_sizes]
        return tuple(Cell(*point) for point in dict.fromkeys(points))

    def page_cells(self, *, latent: bool = True) -> tuple[Cell, ...]:
        """A cell of each page size, with the dtypes in turn: where nothing else matters.

        Args:
            latent: Also one of latent keys (MLA), if the plugin declares them.

        Raises:
            Inapplicable: The plugin declares nothing of that.
        """
        declared = self.subject.capabilities
        if "mha" not in declared.pool_kinds:
            return self.cells(latent=latent)
        cells, found = self.cells(latent=False), []
        for index, page in enumerate(declared.page_sizes):
            mine = [cell for cell in cells if cell.page_size == page]
            dtype = declared.dtypes[index % len(declared.dtypes)]
            found.append(next((cell for cell in mine if cell.dtype == dtype), mine[0]))
        if latent and "mla" in declared.pool_kinds:
            found.append(self.latent_cells()[-1])
        return tuple(found)

    def skip_part(self, reason: str) -> None:
        """Note that part of the running check does not apply."""
        if reason not in self.skips:
            self.skips.append(reason)

    def exercised(self, script: Script) -> None:
        """Book what a script has exercised."""
        for turn in script.turns:
            self.used.add((turn.mode, script.cell.dtype, script.cell.page_size))
        if script.cell.label not in self.cells_used:
            self.cells_used.append(script.cell.label)

    # Watching.

    def observed(self) -> AbstractContextManager[Any]:
        """Around what the backend does: events count."""
        return self._observer() if self._observer is not None else contextlib.nullcontext()

    def unobserved(self) -> AbstractContextManager[Any]:
        """Around what the bench itself does: events do not count."""
        return self._blind() if self._blind is not None else contextlib.nullcontext()

    @contextlib.contextmanager
    def watching(
        self,
        observer: Callable[[], AbstractContextManager[Any]],
        blind: Callable[[], AbstractContextManager[Any]],
    ) -> Iterator[None]:
        """Within it, :meth:`observed` and :meth:`unobserved` are these."""
        before = self._observer, self._blind
        self._observer, self._blind = observer, blind
        try:
            yield
        finally:
            self._observer, self._blind = before

    # Trying.

    def explore(
        self,
        plain: Sequence[Example],
        strategy: Any,
        body: Callable[[Example], None],
        share: float = 1.0,
    ) -> None:
        """Hold ``body`` for each plain example, then for drawn ones; a failure is shrunk.

        Args:
            plain: Tried first, in order: one for each cell, say.
            strategy: A Hypothesis strategy; None: the plain ones are all.
            body: Returns if it holds; it must not keep state.
            share: How many of the profile's examples are drawn.

        Raises:
            Violation: From ``body``, of the smallest example found.
            SubjectError: Likewise.
            Inapplicable: None of the plain examples applies.
        """
        if self.example is not None:
            self.failing = self.example
            body(self.example)
            return
        told, applied = "", False
        for example in plain:
            try:
                body(example)
                applied = True
            except Inapplicable as reason:
                told = reason.reason
                self.skip_part(told)
            except (Violation, SubjectError) as error:
                self.failing = example
                if strategy is None or not self.shrink:
                    raise
                self._draw(strategy, body, 4, like=error)
                self.failing = example
                raise
        if told and not applied:
            self.skips.remove(told)
            raise Inapplicable(told)  # nothing was tried: that is no pass
        if strategy is not None:
            self._draw(strategy, body, max(1, int(self.profile.examples * share)))

    def _draw(
        self,
        strategy: Any,
        body: Callable[[Example], None],
        count: int,
        like: Exception | None = None,
    ) -> None:
        """Draw examples; with ``like``, only to find a smaller one that fails in the same way."""
        import hypothesis

        phases = [hypothesis.Phase.generate]
        if self.shrink:
            phases.append(hypothesis.Phase.shrink)

        def attempt(example: Example) -> None:
            try:
                body(example)
            except Inapplicable:
                return
            except (Violation, SubjectError) as error:
                if like is not None and type(error) is not type(like):
                    return
                self.failing = example
                raise

        tried = hypothesis.settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=phases,
            report_multiple_bugs=False,
            print_blob=False,
            suppress_health_check=list(hypothesis.HealthCheck),
        )(hypothesis.seed(self.seed)(hypothesis.given(strategy)(attempt)))
        with _same_draws_everywhere():
            tried()


@contextlib.contextmanager
def _same_draws_everywhere() -> Iterator[None]:
    """Keep Hypothesis from drawing numbers that it reads in source files outside site-packages.

    Those are other files in a checkout than in an installed wheel, so one seed would draw other
    examples; and reading them takes a second. What says so is internal to Hypothesis: where it is
    not there, all of this is left out.
    """
    from hypothesis.internal.conjecture import providers

    kept = getattr(providers, "_get_local_constants", None)
    nothing = getattr(providers, "Constants", None)
    if kept is None or nothing is None:
        yield
        return
    empty = nothing()
    providers._get_local_constants = lambda: empty
    try:
        yield
    finally:
        providers._get_local_constants = kept
