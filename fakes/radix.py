"""The radix cache as a backend sees it, in the release's own calling form.

A tree of token sequences: a node holds a run of tokens and the slot of each. Matching splits a node
where the match ends inside it. Only leaves that nobody holds are evicted, the least recently used
first. Handing requests over (``cache_finished_req`` and the like) is the scheduler's business and
not faked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import BY_RECORD, BY_RESULT, Given, method

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_CACHE, _KEY, _NODE = "RadixCache", "RadixKey", "TreeNode"
_BASE = "sglang.srt.mem_cache.base_prefix_cache"

BY_RECORD.update({_KEY, "KvEventLoraNames"})
BY_RESULT.update({"BasePrefixCache", "PrefixCacheTrait", _NODE, _CACHE, "IncLockRefResult"})

_ticks = itertools.count(1)
"""A clock that never stands still: which of two nodes was used later is never open."""

# -- keys ----


def _raw_length(fake: Fake, self: Any) -> int:
    count = len(self.token_ids)
    limit = self.limit if fake.records(self, "limit") else None
    return count if limit is None else min(count, int(limit))


def _pairs(fake: Fake, self: Any) -> bool:
    return bool(fake.records(self, "is_bigram") and self.is_bigram)


@method(_KEY, "_raw_len")
def _key_raw_len(fake: Fake, self: Any, given: Given) -> int:
    return _raw_length(fake, self)


@method(_KEY, "__len__")
def _key_len(fake: Fake, self: Any, given: Given) -> int:
    count = _raw_length(fake, self)
    return max(0, count - 1) if _pairs(fake, self) else count


@method(_KEY, "__iter__")
def _key_iter(fake: Fake, self: Any, given: Given) -> Iterator[Any]:
    tokens = self.token_ids[: _raw_length(fake, self)]
    return itertools.pairwise(tokens) if _pairs(fake, self) else iter(tokens)


@method(_KEY, "__getitem__")
def _key_slice(fake: Fake, self: Any, given: Given) -> Any:
    (index,) = given.values()
    if isinstance(index, int):
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"RadixKey index out of range: {index}")
        index = slice(at, at + 1)
    start, stop, step = index.indices(len(self))
    if step != 1:
        raise ValueError("RadixKey slice step must be 1")
    # A run of pairs needs one token more than it has pairs.
    more = 1 if _pairs(fake, self) and stop > start else 0
    kept = {
        name: getattr(self, name)
        for name in ("extra_key", "is_bigram", "cache_salt")
        if fake.records(self, name)
    }
    return type(self)(self.token_ids[start : max(start, stop) + more], **kept)


@method(_KEY, "raw_token_ids")
def _key_raw(fake: Fake, self: Any, given: Given) -> Any:
    return self.token_ids[: _raw_length(fake, self)]


@method(_KEY, "page_aligned")
def _key_aligned(fake: Fake, self: Any, given: Given) -> Any:
    size = given["page_size"]
    return self if size == 1 else self[: len(self) // size * size]


@method(_KEY, "maybe_to_bigram_view")
def _key_to_pairs(fake: Fake, self: Any, given: Given) -> Any:
    value = given.get("value")
    if given["is_eagle"] and not self.is_bigram:
        self.is_bigram = True
        value = None if value is None else value[: len(self)]
    return self, value


def _space(fake: Fake, key: Any) -> tuple[Any, ...]:
    """What keeps sequences of equal tokens apart."""
    if isinstance(key, list):
        return ()
    return tuple(
        getattr(key, name) for name in ("extra_key", "cache_salt") if fake.records(key, name)
    )


def _first_page(fake: Fake, key: Any, page_size: int) -> Any:
    return (_space(fake, key), tuple(itertools.islice(iter(key), page_size)))


def _common(fake: Fake, left: Any, right: Any, page_size: int) -> int:
    """Units two keys begin with alike, in whole pages."""
    if _space(fake, left) != _space(fake, right):
        raise ValueError("RadixKey operations require matching extra_key")
    same = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        same += 1
    return same // page_size * page_size


@method(_KEY, "match", "match_at")
def _key_match(fake: Fake, self: Any, given: Given) -> int:
    start = given.get("offset", 0)
    return _common(fake, self, given["other"][start:], given["page_size"])


@method(_KEY, "child_key", "child_key_at")
def _key_child(fake: Fake, self: Any, given: Given) -> Any:
    start, size = given.get("offset", 0), given["page_size"]
    units = tuple(self[start : start + size])
    plain = units[0] if size == 1 else units
    space = [each for each in _space(fake, self) if each is not None]
    return (*space, plain) if space else plain


# -- nodes ----


@method(_NODE, "__init__")
def _node_init(fake: Fake, self: Any, given: Given) -> None:
    cls = type(self)
    wanted = given.get("id")
    now = next(_ticks)
    fake.assign(
        self,
        children={},
        parent=None,
        key=None,
        value=None,
        lock_ref=0,
        last_access_time=now,
        creation_time=now,
        hit_count=0,
        host_ref_counter=0,
        host_value=None,
        write_through_pending_id=None,
        hash_value=None,
        event_hash_value=None,
        priority=given.get("priority", 0),
        id=cls.counter if wanted is None else wanted,
    )
    cls.counter += 1


@method(_NODE, "__lt__")
def _node_before(fake: Fake, self: Any, given: Given) -> bool:
    return bool(self.last_access_time < given["other"].last_access_time)


# -- the tree ----


@method(_CACHE, "__init__")
def _cache_init(fake: Fake, self: Any, given: Given) -> None:
    params = given.get("params")

    def asked(name: str, otherwise: Any = None) -> Any:
        return given.get(name, otherwise) if params is None else getattr(params, name, otherwise)

    allocator = asked("token_to_kv_pool_allocator")
    fake.assign(
        self,
        req_to_token_pool=asked("req_to_token_pool"),
        token_to_kv_pool_allocator=allocator,
        page_size=asked("page_size"),
        disable=asked("disable", False),
        is_eagle=asked("is_eagle", False),
        eviction_policy=str(asked("eviction_policy", "lru")).lower(),
        enable_kv_cache_events=asked("enable_kv_cache_events", False),
        kv_event_queue=[],
        device="cpu" if allocator is None else allocator.device,
        evictable_leaves=set(),
        disable_finished_insert=False,
    )
    if asked("eviction_policy", "lru") != "lru":
        raise NotImplementedError("the fake radix cache evicts the least recently used alone")
    self.reset()


@method(_CACHE, "create_simulated")
def _cache_simulated(fake: Fake, cls: Any, given: Given) -> Any:
    params = fake.get("sglang.srt.mem_cache.cache_init_params:CacheInitParams")
    return cls(
        params(
            disable=given["disable"],
            req_to_token_pool=None,
            token_to_kv_pool_allocator=given["mock_allocator"],
            page_size=given["page_size"],
        )
    )


def _new_node(fake: Fake, self: Any) -> Any:
    return fake.get("sglang.srt.mem_cache.radix_cache:TreeNode")()


def _empty_key(fake: Fake) -> Any:
    if fake.surface.find("sglang.srt.mem_cache.radix_cache", _KEY) is None:
        return []
    return fake.get("sglang.srt.mem_cache.radix_cache:RadixKey")([], None)


@method(_CACHE, "reset")
def _reset(fake: Fake, self: Any, given: Given) -> None:
    root = _new_node(fake, self)
    root.key, root.value, root.lock_ref = _empty_key(fake), [], 1
    self.root_node = root
    self.evictable_size_ = 0
    self.protected_size_ = 0


def _no_slots(self: Any) -> Any:
    import torch

    return torch.empty((0,), dtype=torch.int64, device=self.device)


def _ready(fake: Fake, self: Any, key: Any, value: Any = None) -> tuple[Any, Any]:
    """The key as the tree stores it: in pairs for EAGLE, cut to whole pages."""
    if self.is_eagle if fake.records(self, "is_eagle") else False:
        if fake.records(key, "is_bigram"):
            key, value = key.maybe_to_bigram_view(True, value)
        else:
            key.token_ids = list(itertools.pairwise(key.token_ids))
    key = key[: len(key) // self.page_size * self.page_size]
    return key, None if value is None else value[: len(key)]


def _descend(fake: Fake, self: Any, key: Any) -> tuple[int, Any]:
    """How much of a key the tree holds, and the node where that ends; splits one if it must."""
    node, held = self.root_node, 0
    node.last_access_time = next(_ticks)
    while len(key):
        child = node.children.get(_first_page(fake, key, self.page_size))
        if child is None:
            break
        child.last_access_time = next(_ticks)
        same = _common(fake, child.key, key, self.page_size)
        held += same
        key = key[same:]
        if same < len(child.key):
            return held, _split(fake, self, child, same)
        node = child
    return held, node


def _split(fake: Fake, self: Any, child: Any, at: int) -> Any:
    """Put a node for the first ``at`` units above ``child``."""
    upper, size = _new_node(fake, self), self.page_size
    upper.parent, upper.lock_ref = child.parent, child.lock_ref
    upper.key, upper.value = child.key[:at], child.value[:at].clone()
    fake.assign(upper, priority=getattr(child, "priority", 0), hit_count=child.hit_count)
    child.parent.children[_first_page(fake, child.key, size)] = upper
    child.key, child.value = child.key[at:], child.value[at:].clone()
    child.parent = upper
    upper.children = {_first_page(fake, child.key, size): child}
    return upper


@method(_CACHE, "path_device_indices")
def _path(fake: Fake, self: Any, given: Given) -> Any:
    return _slots_of(self, given["node"])


def _slots_of(self: Any, node: Any) -> Any:
    import torch

    values: list[Any] = []
    while node is not self.root_node:
        values.insert(0, node.value)
        node = node.parent
    return torch.cat(values) if values else _no_slots(self)


@method(_CACHE, "match_prefix")
def _match_prefix(fake: Fake, self: Any, given: Given) -> Any:
    key = given["params"].key if "params" in given else given["key"]
    key, _ = _ready(fake, self, key)
    held, node = 0, self.root_node
    if not self.disable and len(key):
        held, node = _descend(fake, self, key)
    return fake.construct(
        fake.get(f"{_BASE}:MatchResult"),
        device_indices=_slots_of(self, node),
        device_prefix_len=held,
        last_device_node=node,
        last_host_node=node,
        best_match_node=node,
    )


@method(_CACHE, "touch_prefix")
def _touch(fake: Fake, self: Any, given: Given) -> None:
    key, _ = _ready(fake, self, given["key"])
    node = self.root_node
    while len(key):
        child = node.children.get(_first_page(fake, key, self.page_size))
        if child is None or _common(fake, child.key, key, self.page_size) < len(child.key):
            return
        child.last_access_time = next(_ticks)
        key, node = key[len(child.key) :], child


@method(_CACHE, "insert")
def _insert(fake: Fake, self: Any, given: Given) -> Any:
    import torch

    params = given.get("params")
    key, value = (given["key"], given["value"]) if params is None else (params.key, params.value)
    if self.disable:
        return 0 if params is None else fake.get(f"{_BASE}:InsertResult")(prefix_len=0)
    key, value = _ready(fake, self, key, value)
    if value is None:  # upstream's own stand-in: the tokens for their slots
        value = torch.tensor([each for each in key if isinstance(each, int)], dtype=torch.int64)
    held, node = _descend(fake, self, key)
    if held < len(key):
        leaf = _new_node(fake, self)
        leaf.parent, leaf.key, leaf.value = node, key[held:], value[held:].clone()
        node.children[_first_page(fake, leaf.key, self.page_size)] = leaf
        self.evictable_size_ += len(leaf.key)
        node = leaf
    if params is None:
        return held
    result = fake.get(f"{_BASE}:InsertResult")
    return fake.construct(result, prefix_len=held, last_device_node=node)


# -- holding and evicting ----


def _lock(fake: Fake, self: Any, node: Any, step: int) -> int:
    """Add ``step`` to the holders of a node and all above it; the change of what is evictable."""
    change = 0
    while node is not self.root_node:
        if node is None:
            raise AssertionError("the node is from another tree")
        before, node.lock_ref = node.lock_ref, node.lock_ref + step
        if 0 in (before, node.lock_ref):
            change -= step * len(node.key)
        node = node.parent
    self.evictable_size_ += change
    self.protected_size_ -= change
    return change


def _change(fake: Fake, kind: str, change: int) -> Any:
    if fake.surface.find(_BASE, kind) is None:
        return change
    return fake.get(f"{_BASE}:{kind}")(delta=change)


@method(_CACHE, "inc_lock_ref")
def _hold(fake: Fake, self: Any, given: Given) -> Any:
    change = 0 if self.disable else _lock(fake, self, given["node"], 1)
    return _change(fake, "IncLockRefResult", change)


@method(_CACHE, "dec_lock_ref")
def _release(fake: Fake, self: Any, given: Given) -> Any:
    change = 0 if self.disable else _lock(fake, self, given["node"], -1)
    return _change(fake, "DecLockRefResult", change)


def _nodes(node: Any) -> Iterator[Any]:
    for child in node.children.values():
        yield child
        yield from _nodes(child)


def _give_back(fake: Fake, allocator: Any, slots: Any) -> None:
    """Free a node's slots: page by page in their order, where the release has the call for it."""
    base = "BaseTokenToKVPoolAllocator.free_segment"
    if fake.surface.find("sglang.srt.mem_cache.allocator", base) is None:
        allocator.free(slots)
    else:
        allocator.free_segment(slots, start_pos=0)


@method(_CACHE, "evict")
def _evict(fake: Fake, self: Any, given: Given) -> Any:
    params = given.get("params")
    wanted = given["num_tokens"] if params is None else params.num_tokens
    evicted = 0
    while not self.disable and evicted < wanted:
        leaves = [n for n in _nodes(self.root_node) if not n.children and n.lock_ref == 0]
        if not leaves:
            break
        oldest = min(leaves, key=lambda each: each.last_access_time)
        _give_back(fake, self.token_to_kv_pool_allocator, oldest.value)
        evicted += len(oldest.key)
        del oldest.parent.children[_first_page(fake, oldest.key, self.page_size)]
        self.evictable_size_ -= len(oldest.key)
    if params is None or fake.surface.find(_BASE, "EvictResult") is None:
        return None
    return fake.get(f"{_BASE}:EvictResult")(num_tokens_evicted=evicted)


@method(_CACHE, "total_size")
def _total_size(fake: Fake, self: Any, given: Given) -> int:
    return sum(len(each.key) for each in _nodes(self.root_node))


@method(_CACHE, "evictable_size")
def _evictable_size(fake: Fake, self: Any, given: Given) -> int:
    return int(self.evictable_size_)


@method(_CACHE, "protected_size")
def _protected_size(fake: Fake, self: Any, given: Given) -> int:
    return int(self.protected_size_)


@method(_CACHE, "all_values_flatten")
def _all_values(fake: Fake, self: Any, given: Given) -> Any:
    import torch

    values = [each.value for each in _nodes(self.root_node)]
    return torch.cat(values) if values else _no_slots(self)


@method(_CACHE, "supports_prefix_sharing")
def _shares(fake: Fake, self: Any, given: Given) -> bool:
    return not self.disable


@method(_CACHE, "take_events")
def _no_events(fake: Fake, self: Any, given: Given) -> list[Any]:
    return []
