"""The fake answers as the real release does, step by step, and both as a model written apart.

One state machine drives allocator (page sizes 1 and N), request pool, key/value pool and radix
cache as SGLang's scheduler does. It runs on fakes everywhere. In an environment with a real SGLang
it runs on that, and on the real release and its fake at once.

``SGLANG_CONTRACTS_PROFILE=release`` makes it 200 examples of 50 steps each.
"""

import importlib
import importlib.util
import inspect
import os
from array import array
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
hypothesis = pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, Phase, settings  # noqa: E402 - after the skip
from hypothesis import strategies as st  # noqa: E402
from hypothesis.stateful import (  # noqa: E402
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sglang_contracts.fakes import behaviour, radix  # noqa: E402

from sglang_contracts import fakes  # noqa: E402
from sglang_contracts.live.build import accepted, construct  # noqa: E402
from sglang_contracts.live.differences import Differences  # noqa: E402

RELEASES = ("0.5.9", "0.5.11", "0.5.13", "0.5.16", "0.5.18", "0.5.20", "0.5.23")
LONG = os.environ.get("SGLANG_CONTRACTS_PROFILE") == "release"
REAL = importlib.util.find_spec("sglang") is not None
ROWS, CONTEXT, LAYERS = 5, 64, 1
TOKENS = st.lists(st.integers(0, 1), min_size=2, max_size=12)


class Side:
    """One implementation: a fake that is not put in place, or the real package."""

    def __init__(self, release, fake):
        self.differences = Differences(release)
        self.name = "fake" if fake else "real"
        self.fake = fakes.load(release) if fake else None
        if not fake:
            os.environ.setdefault("TRITON_INTERPRET", "1")
            from sglang_contracts.live import shim

            shim.install()
            importlib.import_module("sglang.srt.managers.schedule_batch")

    def get(self, spelling):
        if self.fake is not None:
            return self.fake.get(spelling)
        module, _, name = spelling.partition(":")
        return getattr(importlib.import_module(module), name)

    def has(self, spelling):
        try:
            return self.get(spelling) is not None
        except (AttributeError, ImportError):
            return False


class Subject:
    """The objects of one side, each operation's answer as plain values."""

    def __init__(self, side, page, pages, need_sort):
        self.side, self.page = side, page
        memory, allocators = "sglang.srt.mem_cache.memory_pool", "sglang.srt.mem_cache.allocator"
        size = page * pages
        self.rows = construct(
            side.get(f"{memory}:ReqToTokenPool"),
            size=ROWS,
            max_context_len=CONTEXT,
            device="cpu",
            enable_memory_saver=False,
        )
        self.pool = construct(
            side.get(f"{memory}:MHATokenToKVPool"),
            size=size,
            page_size=page,
            dtype=torch.float32,
            head_num=1,
            head_dim=4,
            layer_num=LAYERS,
            device="cpu",
            enable_memory_saver=False,
        )
        kind = "TokenToKVPoolAllocator" if page == 1 else "PagedTokenToKVPoolAllocator"
        self.allocator = construct(
            side.get(f"{allocators}:{kind}"),
            size=size,
            page_size=page,
            dtype=torch.float32,
            device="cpu",
            kvcache=self.pool,
            need_sort=need_sort,
        )
        self.cache = self.make_cache()
        self.locks = {}

    def make_cache(self):
        cls = self.side.get("sglang.srt.mem_cache.radix_cache:RadixCache")
        values = {
            "req_to_token_pool": self.rows,
            "token_to_kv_pool_allocator": self.allocator,
            "page_size": self.page,
            "disable": False,
        }
        if "params" not in inspect.signature(cls.__init__).parameters:
            return construct(cls, **values)
        params = "sglang.srt.mem_cache.cache_init_params:CacheInitParams"
        return cls(construct(self.side.get(params), **values))

    # -- rows and slots ----

    def take_row(self):
        try:
            return self.side.differences.alloc_rows(self.rows, 1)[0]
        except RuntimeError:
            return None

    def give_row(self, row):
        self.side.differences.free_rows(self.rows, [row])

    def alloc(self, count):
        return listed(self.allocator.alloc(count))

    def extend(self, prefix, total, last):
        count = sum(total) - sum(prefix)
        if self.page == 1:
            return self.alloc(count)
        values = {
            **two_sided("prefix_lens", prefix),
            **two_sided("seq_lens", total),
            "last_loc": torch.tensor(last),
            "extend_num_tokens": count,
        }
        call = self.allocator.alloc_extend
        return listed(call(**accepted(call, values)))

    def decode(self, total, last):
        if self.page == 1:
            return self.alloc(len(total))
        values = {**two_sided("seq_lens", total), "last_loc": torch.tensor(last)}
        call = self.allocator.alloc_decode
        return listed(call(**accepted(call, values)))

    def would_read_past_the_end(self, operation):
        """Up to 0.5.21 the kernels run before anybody looks whether the free list is long enough.

        What they then read is not theirs: the process may die of it. The scheduler never asks.
        """
        kernels = self.side.fake is None and self.side.differences.needs_triton_interpreter
        if not kernels or self.page == 1 or operation not in ("extend", "decode"):
            return False
        if self.allocator.need_sort:
            self.allocator.merge_and_sort_free()  # as it would have done on the way
        return True

    def free(self, slots):
        self.allocator.free(torch.tensor(slots, dtype=torch.int64))

    def free_together(self, several):
        self.allocator.free_group_begin()
        for slots in several:
            self.free(slots)
        held = self.allocator.available_size()
        self.allocator.free_group_end()
        return held

    def free_segment(self, slots):
        self.allocator.free_segment(torch.tensor(slots), start_pos=0)

    def try_and_restore(self, count):
        state = self.allocator.backup_state()
        slots = self.alloc(count)
        self.allocator.restore_state(state)
        return slots

    def available(self):
        return self.rows.available_size(), self.allocator.available_size()

    # -- contents ----

    def write(self, row, start, slots, mark):
        where = torch.tensor(slots, dtype=torch.int64)
        self.rows.write((row, slice(start, start + len(slots))), where.to(torch.int32))
        keys = torch.arange(len(slots), dtype=torch.float32).view(-1, 1, 1).expand(-1, 1, 4) + mark
        location = where
        if self.side.has("sglang.srt.mem_cache.memory_pool:KVWriteLoc"):
            location = self.side.get("sglang.srt.mem_cache.memory_pool:KVWriteLoc")(where)
        layer = SimpleNamespace(layer_id=0, is_cross_attention=False)
        self.pool.set_kv_buffer(layer, location, keys.contiguous(), -keys)

    def row(self, row, length):
        return self.rows.req_to_token[row, :length].tolist()

    def contents(self, slots):
        keys, values = self.pool.get_kv_buffer(0)
        return keys[slots, 0, 0].tolist(), values[slots, 0, 3].tolist()

    # -- cache ----

    def key(self, tokens):
        place = "sglang.srt.mem_cache.radix_cache:RadixKey"
        if not self.side.has(place):
            return list(tokens)
        cls = self.side.get(place)
        typed = "array" in str(inspect.signature(cls.__init__).parameters["token_ids"])
        return cls(array("q", tokens) if typed else list(tokens), None)

    def _params(self, name, **values):
        return self.side.get(f"sglang.srt.mem_cache.base_prefix_cache:{name}")(**values)

    def _call(self, call, name, **values):
        if "params" in inspect.signature(call).parameters:
            return call(self._params(name, **values))
        return call(**values)

    def match(self, tokens):
        found = self._call(self.cache.match_prefix, "MatchPrefixParams", key=self.key(tokens))
        if hasattr(found, "device_indices"):
            return listed(found.device_indices), found.last_device_node
        slots = listed(self.cache.path_device_indices(found.last_device_node))
        assert len(slots) == found.device_prefix_len
        return slots, found.last_device_node

    def lookup(self, tokens):
        return self.match(tokens)[0]

    def lookup_and_lock(self, number, tokens):
        slots, node = self.match(tokens)
        self.locks[number] = node
        change = self.cache.inc_lock_ref(node)
        return slots, getattr(change, "delta", change)

    def unlock(self, number):
        change = self.cache.dec_lock_ref(self.locks.pop(number))
        return getattr(change, "delta", change)

    def insert(self, tokens, slots):
        value = torch.tensor(slots, dtype=torch.int64)
        done = self._call(self.cache.insert, "InsertParams", key=self.key(tokens), value=value)
        return getattr(done, "prefix_len", done)

    def evict(self, count):
        done = self._call(self.cache.evict, "EvictParams", num_tokens=count)
        return getattr(done, "num_tokens_evicted", None)

    def cached(self):
        return self.cache.evictable_size(), self.cache.protected_size(), self.cache.total_size()


def listed(tensor):
    return None if tensor is None else [int(each) for each in tensor]


def two_sided(name, values):
    tensor = torch.tensor(values, dtype=torch.int64)
    return {name: tensor, f"{name}_cpu": tensor.clone()}


class Model:
    """What must come out, in lists and dicts: no tensors, no tree."""

    def __init__(self, differences, page, pages, need_sort):
        self.page, self.need_sort = page, need_sort
        self.free_pages, self.kept_apart = list(range(1, pages + 1)), []
        # Row 0 is left to padding since 0.5.11; rows come from the other end since 0.5.18.
        first = 1 if differences.since("0.5.11") else 0
        self.rows, self.from_tail = list(range(first, first + ROWS)), differences.since("0.5.18")
        self.tells_evicted = differences.since("0.5.9")
        self.evicts_segments = differences.since("0.5.17")
        self.table, self.written = {}, {}
        self.known = {}
        """Cached tokens up to each page's end → SimpleNamespace(slots, locks, ends, used)."""
        self.clock, self.locks = 0, {}

    # -- rows and slots ----

    def take_row(self):
        return self.rows.pop(-1 if self.from_tail else 0) if self.rows else None

    def give_row(self, row):
        self.rows.append(row)

    def _merge(self):
        if self.kept_apart:
            self.free_pages = sorted(self.free_pages + self.kept_apart)
            self.kept_apart = []

    def _take(self, count, estimate):
        if self.need_sort and estimate > len(self.free_pages):
            self._merge()
        if count > len(self.free_pages):
            return None
        taken, self.free_pages = self.free_pages[:count], self.free_pages[count:]
        return taken

    def alloc(self, count):
        pages = self._take(count // self.page, count // self.page)
        return pages and [p * self.page + i for p in pages for i in range(self.page)]

    def extend(self, prefix, total, last):
        count = sum(total) - sum(prefix)
        needed = sum(self._pages(b) - self._pages(a) for a, b in zip(prefix, total, strict=True))
        estimate = count if self.page == 1 else count // self.page + len(prefix) + 1
        pages = self._take(needed, estimate)
        if pages is None:
            return None
        slots = []
        for before, after, at in zip(prefix, total, last, strict=True):
            for position in range(before, after):
                at = at + 1 if position % self.page else pages.pop(0) * self.page
                slots.append(at)
        return slots

    def decode(self, total, last):
        if self.page == 1:
            return self.alloc(len(total))
        needed = sum(n % self.page == 1 for n in total)
        pages = self._take(needed, len(total))
        if pages is None:
            return None
        return [
            pages.pop(0) * self.page if n % self.page == 1 else at + 1
            for n, at in zip(total, last, strict=True)
        ]

    def _pages(self, length):
        return -(-length // self.page)

    def free(self, slots):
        if not slots:
            return
        held = "kept_apart" if self.need_sort else "free_pages"
        if self.page == 1:
            setattr(self, held, getattr(self, held) + list(slots))
        else:
            setattr(self, held, sorted({s // self.page for s in slots}) + getattr(self, held))

    def free_together(self, several):
        held = self.available()[1]
        self.free([slot for slots in several for slot in slots])
        return held

    def free_segment(self, slots):
        if self.page == 1:
            self.free(slots)
        else:
            pages = [slot // self.page for slot in slots[:: self.page]]
            held = "kept_apart" if self.need_sort else "free_pages"
            setattr(self, held, pages + getattr(self, held))

    def try_and_restore(self, count):
        state = list(self.free_pages), list(self.kept_apart)
        slots = self.alloc(count)
        self.free_pages, self.kept_apart = state
        return slots

    def available(self):
        return len(self.rows), (len(self.free_pages) + len(self.kept_apart)) * self.page

    # -- contents ----

    def write(self, row, start, slots, mark):
        for index, slot in enumerate(slots):
            self.table[row, start + index] = slot
            self.written[slot] = float(index + mark)

    def row(self, row, length):
        return [self.table[row, index] for index in range(length)]

    def contents(self, slots):
        keys = [self.written.get(slot, 0.0) for slot in slots]
        return keys, [-key for key in keys]

    # -- cache: every page of tokens that is known, keyed by all tokens up to its end ----

    def _path(self, tokens):
        found = []
        for end in range(self.page, len(tokens) + 1, self.page):
            if tuple(tokens[:end]) not in self.known:
                break
            found.append(tuple(tokens[:end]))
        return found

    def _below(self, prefix):
        size = len(prefix) + self.page
        return [k for k in self.known if len(k) == size and k[: len(prefix)] == prefix]

    def lookup(self, tokens):
        path = self._walk(tokens)
        return [slot for prefix in path for slot in self.known[prefix].slots]

    def _walk(self, tokens):
        path = self._path(tokens)
        self.clock += 1
        for prefix in self._with_rest(path):
            self.known[prefix].used = self.clock
        if path:
            self.known[path[-1]].ends = True
        return path

    def _with_rest(self, path):
        """The pages of a path and those of the last node that lie beyond it."""
        pages = list(path)
        while pages and not self.known[pages[-1]].ends:
            (below,) = self._below(pages[-1])  # a node without an end here goes on, and one way
            pages.append(below)
        return pages

    def lookup_and_lock(self, number, tokens):
        slots = self.lookup(tokens)
        path = self._path(tokens)
        self.locks[number] = path
        return slots, -self._lock(path, 1)

    def unlock(self, number):
        return self._lock(self.locks.pop(number), -1)

    def _lock(self, path, step):
        changed = 0
        for prefix in path:
            before = self.known[prefix].locks
            self.known[prefix].locks = before + step
            changed += self.page if 0 in (before, before + step) else 0
        return changed

    def insert(self, tokens, slots):
        path = self._walk(tokens)
        held = len(path) * self.page
        self.clock += 1  # what is new is used later than what was passed on the way
        for end in range(held + self.page, len(tokens) + 1, self.page):
            self.known[tuple(tokens[:end])] = SimpleNamespace(
                slots=slots[end - self.page : end],
                locks=0,
                ends=end == len(tokens),
                used=self.clock,
            )
        return held

    def evict(self, count):
        evicted = 0
        while evicted < count:
            leaves = [p for p, page in self.known.items() if not page.locks and not self._below(p)]
            if not leaves:
                break
            leaf = min(leaves, key=lambda prefix: self.known[prefix].used)
            slots = self.known.pop(leaf).slots
            while len(leaf) > self.page and not self.known[leaf[: -self.page]].ends:
                leaf = leaf[: -self.page]
                slots = self.known.pop(leaf).slots + slots
            (self.free_segment if self.evicts_segments else self.free)(slots)
            evicted += len(slots)
        return evicted if self.tells_evicted else None

    def cached(self):
        free = sum(self.page for page in self.known.values() if not page.locks)
        total = len(self.known) * self.page
        return free, total - free, total


class Machine(RuleBasedStateMachine):
    """Drives the subjects and the model alike; every answer must be the same."""

    sides = ()

    @initialize(
        page=st.sampled_from([1, 2, 4]),
        pages=st.integers(6, 24),
        need_sort=st.booleans(),
        first=st.lists(TOKENS, min_size=2, max_size=5),
    )
    def begin(self, page, pages, need_sort, first):
        pages = pages * 4 // page if page < 4 else pages
        self.page, self.pages = page, pages
        self.subjects = [Subject(side, page, pages, need_sort) for side in self.sides]
        self.model = Model(self.sides[0].differences, page, pages, need_sort)
        self.requests, self.raw, self.number = {}, [], 0
        for tokens in first:  # so that the cache holds something from the start
            self._prefill([tokens])
            self._decode([], 1)
        for number in sorted(self.requests):
            self._finish(self.requests.pop(number), cached=True)

    def ask(self, operation, *arguments):
        """Do it everywhere; the one answer."""
        wanted = getattr(self.model, operation)(*arguments)
        for subject in self.subjects:
            if wanted is None and subject.would_read_past_the_end(operation):
                continue
            found = getattr(subject, operation)(*arguments)
            assert found == wanted, (
                f"{subject.side.name} {subject.side.differences.release}: {operation}"
                f"{arguments} gives {found}, the model {wanted}"
            )
        return wanted

    def can(self, name):
        return all(hasattr(subject.allocator, name) for subject in self.subjects)

    # -- requests, as the scheduler handles them ----

    @rule(prompts=st.lists(TOKENS, min_size=1, max_size=3))
    def prefill(self, prompts):
        self._prefill(prompts)

    def _prefill(self, prompts):
        begun = []
        for tokens in prompts:
            row = self.ask("take_row")
            if row is None:
                continue
            self.number += 1
            shared, _ = self.ask("lookup_and_lock", self.number, tokens[:-1])
            request = SimpleNamespace(
                number=self.number, row=row, tokens=list(tokens), slots=shared, shared=len(shared)
            )
            begun.append(request)
        if not begun:
            return
        slots = self.ask(
            "extend",
            [r.shared for r in begun],
            [len(r.tokens) for r in begun],
            [r.slots[-1] if r.slots else -1 for r in begun],
        )
        if slots is None:  # out of memory: as if they had never come
            for request in begun:
                self.ask("unlock", request.number)
                self.ask("give_row", request.row)
            return
        for request in begun:
            count = len(request.tokens) - request.shared
            request.slots = request.slots + slots[:count]
            slots = slots[count:]
            self.ask("write", request.row, 0, request.slots[: request.shared], 500)
            self.ask("write", request.row, request.shared, request.slots[request.shared :], 10)
            self.requests[request.number] = request

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), token=st.integers(0, 2))
    def decode(self, data, token):
        chosen = data.draw(
            st.lists(st.sampled_from(sorted(self.requests)), min_size=1, unique=True)
        )
        self._decode([self.requests[number] for number in chosen], token)

    def _decode(self, batch, token):
        batch = batch or list(self.requests.values())
        if not batch or any(len(request.tokens) + 1 >= CONTEXT for request in batch):
            return
        slots = self.ask("decode", [len(r.tokens) + 1 for r in batch], [r.slots[-1] for r in batch])
        for request, slot in zip(batch, slots or [], strict=False):
            request.tokens.append(token)
            request.slots.append(slot)
            self.ask("write", request.row, len(request.slots) - 1, [slot], request.number + 100)

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), cached=st.sampled_from([True, True, True, False]))
    def finish(self, data, cached):
        self._finish(self.requests.pop(data.draw(st.sampled_from(sorted(self.requests)))), cached)

    def _finish(self, request, cached):
        self.ask("row", request.row, len(request.slots))
        self.ask("contents", list(range(self.page * (self.pages + 1))))  # no other slot changed
        whole = len(request.tokens) // self.page * self.page
        if cached and whole:
            held = self.ask("insert", request.tokens[:whole], request.slots[:whole])
            self.ask("free", request.slots[request.shared : held])
        else:
            self.ask("free", request.slots[request.shared : whole])
        self.ask("free", request.slots[whole:])
        self.ask("unlock", request.number)
        self.ask("give_row", request.row)

    @precondition(lambda self: self.model.known)
    @rule(tokens=TOKENS)
    def look(self, tokens):
        self.ask("contents", self.ask("lookup", tokens))

    @precondition(lambda self: self.model.known)
    @rule(count=st.integers(1, 9))
    def evict(self, count):
        self.ask("evict", count)

    # -- bare slots ----

    @precondition(lambda self: len(self.raw) < 3)
    @rule(pages=st.integers(1, 4))
    def take(self, pages):
        slots = self.ask("alloc", pages * self.page)
        if slots is not None:
            self.raw.append(slots)

    @precondition(lambda self: self.raw)
    @rule(data=st.data())
    def give_back(self, data):
        self.ask("free", self.raw.pop(data.draw(st.integers(0, len(self.raw) - 1))))

    @precondition(lambda self: len(self.raw) > 1)
    @rule()
    def give_back_together(self):
        self.ask("free_together", self.raw)
        self.raw = []

    @precondition(lambda self: self.raw and self.can("free_segment"))
    @rule()
    def give_back_a_segment(self):
        self.ask("free_segment", self.raw.pop())

    @precondition(lambda self: len(self.raw) == 2 and self.can("backup_state"))
    @rule(pages=st.integers(1, 4))
    def take_and_restore(self, pages):
        self.ask("try_and_restore", pages * self.page)

    @invariant()
    def sizes_agree(self):
        self.ask("available")
        self.ask("cached")

    @invariant()
    def nothing_is_out_twice(self):
        owned = [
            slot for request in self.requests.values() for slot in request.slots[request.shared :]
        ]
        owned += [slot for slots in self.raw for slot in slots]
        assert len(set(owned)) == len(owned)
        assert all(slot >= self.page for slot in owned)


def run(*sides, shrink=True):
    machine = type("Machine", (Machine,), {"sides": sides})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=200 if LONG else 20,
            stateful_step_count=50 if LONG else 25,
            deadline=None,
            derandomize=not LONG,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, *([Phase.shrink] if shrink else [])],
        ),
    )


@pytest.mark.parametrize("release", RELEASES)
def test_a_fake_answers_as_the_model(release):
    run(Side(release, fake=True))


@pytest.mark.skipif(not REAL, reason="no real SGLang is installed in this environment")
def test_the_real_release_and_its_fake_answer_as_the_model():
    from sglang_contracts.live.build import installed_release

    release = installed_release()
    run(Side(release, fake=True), Side(release, fake=False))


def outcome(call, *arguments):
    """What a call gives, as a value that can be compared; or the kind of its exception."""
    try:
        found = call(*arguments)
    except Exception as error:
        return type(error).__name__
    if hasattr(found, "__enter__"):
        with found as entered:
            return f"a context manager that gives {entered}"
    return found if isinstance(found, (bool, int, str, list, type(None))) else type(found).__name__


@pytest.mark.skipif(not REAL, reason="no real SGLang is installed in this environment")
def test_forward_modes_answer_as_the_real_ones():
    from sglang_contracts.live.build import installed_release

    release = installed_release()
    place = "sglang.srt.model_executor.forward_batch_info:ForwardMode"
    real, fake = (Side(release, fake=each).get(place) for each in (False, True))
    assert [(m.name, m.value) for m in real] == [(m.name, m.value) for m in fake]
    asked = 0
    for name in [each for each in vars(real) if each.startswith("is_")]:
        flags = len(inspect.signature(getattr(real, name)).parameters) - 1
        for arguments in {(), (True,) * flags}:
            for mode in real:
                wanted = bool(getattr(mode, name)(*arguments))
                assert getattr(fake[mode.name], name)(*arguments) is wanted, (mode, name, arguments)
                asked += 1
    assert asked > 50


@pytest.mark.skipif(not REAL, reason="no real SGLang is installed in this environment")
def test_a_platform_without_overrides_answers_as_the_real_one():
    from sglang_contracts.live.build import installed_release

    release = installed_release()
    place = "sglang.srt.platforms.interface:SRTPlatform"
    sides = [Side(release, fake=each) for each in (False, True)]
    if not sides[0].has(place):
        pytest.skip(f"SGLang {release} has no platform mechanism")
    real, fake = (side.get(place)() for side in sides)
    for name in ("device_name", "device_type", "supported_quantization"):
        assert getattr(real, name) == getattr(fake, name)
    for name in sorted(n for n in dir(real) if not n.startswith("_")):
        method = getattr(real, name)
        if not inspect.ismethod(method) or name in ("seed_everything", "get_cpu_architecture"):
            continue
        needed = [
            "mha" if each.name == "kind" else "x"
            for each in inspect.signature(method).parameters.values()
            if each.default is each.empty and each.kind is not each.VAR_KEYWORD
        ]
        if name == "get_kv_pool_cls":
            continue  # its argument is a keyword; its answer is in test_behaviour
        assert outcome(method, *needed) == outcome(getattr(fake, name), *needed), name


def keys_one_slot_lower(real):
    def write(fake, pool, given):
        name = "loc_info" if "loc_info" in given else "loc"
        where = getattr(given[name], "loc", given[name])
        return real(fake, pool, {**given, name: (where - 1).clamp(min=0)})

    return write


def last_page_leaked(real):
    def free(fake, allocator, given):
        kept = given["free_index"][: -allocator.page_size]
        return real(fake, allocator, {"free_index": kept})

    return free


def slots_in_another_order(real):
    def alloc(fake, allocator, given):
        slots = real(fake, allocator, given)
        return None if slots is None else slots.flip(0)

    return alloc


def newest_evicted(real):
    def evict(fake, cache, given):
        nodes = list(radix._nodes(cache.root_node))
        for node in nodes:
            node.last_access_time = -node.last_access_time
        done = real(fake, cache, given)
        for node in nodes:
            node.last_access_time = -node.last_access_time
        return done

    return evict


def nobody_held(real):
    return lambda fake, cache, given: radix._change(fake, "IncLockRefResult", 0)


def rows_lost(real):
    return lambda fake, pool, given: None


@pytest.mark.parametrize("release", ["0.5.9", "0.5.20"])
@pytest.mark.parametrize(
    ("owner", "names", "defect"),
    [
        ("MHATokenToKVPool", ["set_kv_buffer"], keys_one_slot_lower),
        ("PagedTokenToKVPoolAllocator", ["free"], last_page_leaked),
        ("PagedTokenToKVPoolAllocator", ["alloc_decode"], slots_in_another_order),
        ("RadixCache", ["evict"], newest_evicted),
        ("RadixCache", ["inc_lock_ref"], nobody_held),
        ("ReqToTokenPool", ["free", "free_rows"], rows_lost),
    ],
)
def test_a_difference_is_noticed(release, owner, names, defect, monkeypatch):
    """The comparison bites: a fake with one defect does not pass."""
    side = Side(release, fake=True)
    for name in names:
        real = behaviour.METHODS[owner, name]
        monkeypatch.setitem(behaviour.METHODS, (owner, name), defect(real))
    with pytest.raises(AssertionError, match="the model"):
        run(side, shrink=False)
