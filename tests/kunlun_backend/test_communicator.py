"""Ring and tree collectives give what torch's own give, between real processes."""

import itertools
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
dist = pytest.importorskip("torch.distributed")

from kunlun_backend.communicator import ALGORITHMS, Communicator  # noqa: E402

from kunlun_backend import topology  # noqa: E402 - after the skip

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="this torch has no distributed")

DTYPES = (torch.float32, torch.bfloat16, torch.int64)
SHAPES = ((1,), (7,), (5, 3), (64, 32))


def values(rank, dtype, shape):
    """Small whole numbers: sums are exact in every dtype, whatever the order."""
    return torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(rank)).to(dtype)


def worker(rank, size, folder):
    torch.set_num_threads(1)
    store = dist.FileStore(str(Path(folder) / "store"), size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    failures = []
    orders = [None, tuple(reversed(range(size))), (size - 1, *range(size - 1))]
    try:
        for algorithm, order in itertools.product(ALGORITHMS, orders):
            made = Communicator(None, algorithm, order)
            for dtype, shape in itertools.product(DTYPES, SHAPES):
                mine = values(rank, dtype, shape)
                expected = mine.clone()
                dist.all_reduce(expected)
                if not torch.equal(made.all_reduce(mine.clone()), expected):
                    failures.append((algorithm, order, "all_reduce", dtype, shape))
                parts = [torch.empty_like(mine) for _ in range(size)]
                dist.all_gather(parts, mine)
                if not torch.equal(made.all_gather(mine), torch.cat(parts)):
                    failures.append((algorithm, order, "all_gather", dtype, shape))
            strided = values(rank, torch.float32, (4, 6)).t()
            expected = strided.contiguous()
            dist.all_reduce(expected)
            if not torch.equal(made.all_reduce(strided), expected):
                failures.append((algorithm, order, "strided"))
    finally:
        dist.destroy_process_group()
    Path(folder, f"rank{rank}").write_text(repr(failures), encoding="utf-8")


@pytest.mark.parametrize("size", [2, 3, 4])
def test_ring_and_tree_equal_torch(tmp_path, size):
    torch.multiprocessing.start_processes(
        worker, args=(size, str(tmp_path)), nprocs=size, start_method="fork"
    )
    results = [Path(tmp_path, f"rank{r}").read_text(encoding="utf-8") for r in range(size)]
    assert results == ["[]"] * size


TWO_NODES = [
    ["X", "PIX", "SYS", "SYS"],
    ["PIX", "X", "SYS", "SYS"],
    ["SYS", "SYS", "X", "PHB"],
    ["SYS", "SYS", "PHB", "X"],
]
INTERLEAVED = [[0 if a == b else (1 if a % 2 == b % 2 else 5) for b in range(8)] for a in range(8)]


def test_groups_stay_inside_a_numa_node():
    assert topology.groups(TWO_NODES, 2) == ((0, 1), (2, 3))
    assert topology.groups(INTERLEAVED, 4) == ((0, 2, 4, 6), (1, 3, 5, 7))
    assert topology.groups(INTERLEAVED, 2) == ((0, 2), (4, 6), (1, 3), (5, 7))


def test_a_group_crosses_nodes_only_where_its_size_forces_it():
    assert topology.groups(TWO_NODES, 4) == ((0, 1, 2, 3),)
    six = [[0 if a == b else (1 if a // 3 == b // 3 else 5) for b in range(6)] for a in range(6)]
    made = topology.groups(six, 2)
    crossing = [group for group in made if group[0] // 3 != group[1] // 3]
    assert crossing == [(2, 5)]


def test_a_ring_goes_through_one_node_after_the_other():
    order = topology.ring_order(INTERLEAVED)
    crossings = sum(a % 2 != b % 2 for a, b in zip(order, order[1:] + order[:1], strict=True))
    assert sorted(order) == list(range(8))
    assert crossings == 2  # once there and once back, whatever the ranks are called


def test_a_ring_takes_the_nearest_neighbour_next():
    line = [[abs(a - b) for b in (0, 3, 1, 2)] for a in (0, 3, 1, 2)]
    assert topology.ring_order(line) == (0, 2, 3, 1)


@pytest.mark.parametrize("matrix", [[[0, 1]], [[0], [1, 0]]])
def test_a_topology_is_square(matrix):
    with pytest.raises(ValueError, match="square"):
        topology.numa_nodes(matrix)


def test_ranks_that_cannot_be_split_are_refused():
    with pytest.raises(ValueError, match="groups of 3"):
        topology.groups(TWO_NODES, 3)
