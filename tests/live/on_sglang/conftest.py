"""Tests that need a real SGLang: run by ``tox -e sglang-<release>``."""

import importlib.util
import os
import platform
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.live import card, evidence, memory_size, shim, tiny
from sglang_contracts.live.build import installed_release
from sglang_contracts.live.differences import Differences
from sglang_contracts.live.engine import KUNLUN, TORCH_NATIVE, Job, run
from sglang_contracts.live.environments import PROJECT
from sglang_contracts.live.reference import CHUNK, GROUPS, VARIED, reference
from sglang_contracts.live.trace import WANTED

# Upstream's paged allocator launches Triton up to 0.5.21: its interpreter runs that on a CPU.
os.environ.setdefault("TRITON_INTERPRET", "1")
os.environ.setdefault("SGLANG_CONTRACTS_SDK", "shim")
if importlib.util.find_spec("sglang") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    shim.install()
    os.environ.update(shim.environment())


RECORD = bool(os.environ.get("SGLANG_CONTRACTS_RECORD"))
FOLDER = PROJECT / "matrix" / "evidence"
REGISTER = "kunlun=kunlun_backend.backend:KunlunAttentionBackend"
serving = pytest.StashKey()
level_5 = pytest.StashKey()
LATE = {
    "level_five": ("0.5.13", "0.5.16", "0.5.23"),
    "ranks_run": ("0.5.13", "0.5.16", "0.5.20"),
    "defects": ("0.5.23",),
    "card_run": ("0.5.22",),
    "int8_run": ("0.5.23",),
}
"""Fixtures of what takes longest, in the order in which it is started → the lines that have it: no
line has more than two, or it would take a minute longer than the others."""


def pytest_addoption(parser):
    parser.addoption("--expect-sglang", help="fail unless this sglang-<release> is installed")


def pytest_configure(config):
    wanted = config.getoption("--expect-sglang", default=None)
    if wanted and f"sglang-{installed_release()}" != wanted:
        raise pytest.UsageError(f"SGLang {installed_release()} is installed, not {wanted}")
    if wanted:
        start(config)  # a whole line: they import while the tests are collected
        start_servers(config)


def pytest_collection_modifyitems(items):
    """Last, those that wait for the engines."""
    order = ("served", *LATE)
    items.sort(key=lambda item: max((order.index(n) + 1 for n in _in(item, order)), default=0))


def pytest_collection_finish(session):
    """At the latest now that some are known to need the engines."""
    if any("served" in _fixtures(item) for item in session.items):
        start(session.config)
    wanted = {name for item in session.items for name in _in(item, LATE)}
    start_servers(session.config, wanted)


def _fixtures(item):
    return getattr(item, "fixturenames", ())


def _in(item, names):
    return [name for name in _fixtures(item) if name in names]


CARD = 256 << 20
"""Bytes of the card of the engines below: the pool is what SGLang makes of it."""

SIZED = {"max_total_tokens": None, "mem_fraction_static": 0.5}
"""Options of an engine whose pool nothing bounds but that card."""

OF_SIZE = {memory_size.VARIABLE: str(CARD)}

COLLECTIVES = {
    "0.5.13": {},
    "0.5.16": {"KUNLUN_COLLECTIVE": "tree"},
    "0.5.20": {"KUNLUN_COLLECTIVE": "ring"},
}
"""How two ranks add up in each line: by gloo itself, or by the plugin."""


def serve_ranks(work):
    """Two ranks, each on a CPU of its own, with a topology where the plugin adds up."""
    release = installed_release()
    folder = work / f"run-{release}-ranks"
    folder.mkdir(parents=True, exist_ok=True)
    variables = {"SGLANG_CPU_OMP_THREADS_BIND": "0|1", **COLLECTIVES[release], **OF_SIZE}
    if COLLECTIVES[release]:
        matrix = folder / "topology.json"
        matrix.write_text('[["X", "SYS"], ["SYS", "X"]]')
        variables["KUNLUN_TOPOLOGY"] = str(matrix.absolute())
    job = Job(
        reference(work, release).model,
        KUNLUN,
        16,
        GROUPS,
        {"chunked_prefill_size": CHUNK, "tp_size": 2, **SIZED},
        platform=KUNLUN,
        variables=variables,
    )
    return job, run(job, release, folder), ()


def serve_on_card(work):
    """An engine that computes on the simulated card, and what happened there in each pass."""
    release = installed_release()
    folder, events = noted(work / f"run-{release}-card")
    options = {"chunked_prefill_size": CHUNK, **SIZED}
    model = reference(work, release).model
    job = Job(model, KUNLUN, 16, GROUPS, options, platform=KUNLUN, card=events, variables=OF_SIZE)
    return job, run(job, release, folder), tuple(card.passes(events))


def serve_int8(work):
    """An engine of quantised weights, and the kernels that ran in each pass."""
    release = installed_release()
    folder, events = noted(work / f"run-{release}-int8")
    options = {"chunked_prefill_size": CHUNK, "quantization": "w8a8_int8", **SIZED}
    model = tiny.make_int8(folder / "model", reference(work, release).model)
    job = Job(
        model, KUNLUN, 16, GROUPS, options, platform=KUNLUN, kernels=events, variables=OF_SIZE
    )
    return job, run(job, release, folder), tuple(card.passes(events))


def noted(folder):
    """A folder for a run, and an empty one in it for what is noted of its passes."""
    events = folder / "passes"
    shutil.rmtree(events, ignore_errors=True)
    events.mkdir(parents=True)
    return folder, events


def start_servers(config, wanted=tuple(LATE)):
    """Start once what takes longest, as far as this line has it: one after the other."""
    if not wanted or level_5 in config.stash or config.option.collectonly:
        return
    place = Path(__file__).with_name("servers.py")
    spec = importlib.util.spec_from_file_location("servers_of_level_five", place)
    servers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(servers)
    release = installed_release()
    work = Path(os.environ.get("SGLANG_CONTRACTS_LIVE") or tempfile.mkdtemp())
    makers = {
        "level_five": servers.ask_a_server,
        "defects": servers.ask_a_server_with_defects,
        "ranks_run": lambda: serve_ranks(work),
        "card_run": lambda: serve_on_card(work),
        "int8_run": lambda: serve_int8(work),
    }
    pool = ThreadPoolExecutor(1)
    jobs = {
        name: pool.submit(makers[name]) for name in LATE if name in wanted and release in LATE[name]
    }
    config.stash[level_5] = jobs


def start(config):
    """Start the engines once: they run in processes of their own beside the other tests."""
    if serving in config.stash or config.option.collectonly:
        return
    if Differences(installed_release()).has_attention_registry:
        shared = os.environ.get("SGLANG_CONTRACTS_LIVE")
        work = Path(shared or tempfile.mkdtemp(prefix="sglang-contracts-live-"))
        config.stash[serving] = ThreadPoolExecutor(1).submit(serve, work)


def serve(work):
    """The reference and one engine run for each page size that the release can serve.

    The smaller page size mixes decodes into prefill batches. Triton's interpreter, which upstream's
    paged allocator needs where no plugin brings another, takes it from 0.5.5 on.
    """
    release = installed_release()
    differences = Differences(release)
    expected = reference(work, release)
    options = {"chunked_prefill_size": CHUNK}
    jobs = {
        page_size: plugged(
            work / f"run-{release}-{page_size}",
            expected.model,
            page_size,
            {**options, "enable_mixed_chunk": page_size == 1},
        )
        for page_size in ((1, 16) if differences.since("0.5.5") else (1,))
    }
    with ThreadPoolExecutor() as pool:  # start-up is all imports: two cost little more
        results = pool.map(lambda job: run(job, release, job.trace.parent), jobs.values())
        found = dict(zip(jobs, zip(jobs.values(), results, strict=True), strict=True))
    return expected, found


def plugged(folder, model, page_size, options, groups=(*GROUPS, VARIED)):
    """A traced run with the reference plugin, or with its backend alone where there are none."""
    plugin = Differences(installed_release()).has_platforms
    return Job(
        model,
        KUNLUN,
        page_size,
        groups,
        options,
        platform=KUNLUN if plugin else "",
        register="" if plugin else REGISTER,
        trace=traced(folder),
    )


def traced(folder):
    """An empty folder for a trace, with the symbols that are to be looked up."""
    trace = folder / "trace"
    shutil.rmtree(trace, ignore_errors=True)
    trace.mkdir(parents=True)
    (trace / WANTED).write_text(evidence.wanted(load_contracts()))
    return trace


def record_further(work, model, release):
    """Record what SGLang makes where no plugin takes its place, and for latent attention.

    Which symbols and flags there are, the file of the release's line tells already.
    """
    options = {"chunked_prefill_size": CHUNK}
    groups = (*GROUPS[:2], VARIED)
    folder = work / f"run-{release}-native"
    job = Job(model, TORCH_NATIVE, 1, groups, options, trace=traced(folder))
    run(job, release, folder)
    found = gathered(release, [job], tiny.DIMS)
    evidence.save(msgspec.structs.replace(found, symbols={}, flags={}), FOLDER, "native")
    if not Differences(release).serves_latent_attention:
        return
    folder = work / f"run-{release}-latent"
    job = Job(
        tiny.make_latent(folder / "model"),
        KUNLUN,
        1,
        groups,
        {**options, "load_format": "dummy"},
        register=REGISTER,
        trace=traced(folder),
    )
    run(job, release, folder)
    found = gathered(release, [job], tiny.LATENT_DIMS)
    evidence.save(msgspec.structs.replace(found, symbols={}, flags={}), FOLDER, "latent")


def gathered(release, jobs, dims):
    """The evidence of some runs."""
    settings = [
        (
            {
                "backend": job.backend,
                "platform": job.platform,
                "page_size": job.page_size,
                **job.options,
            },
            job.trace,
        )
        for job in jobs
    ]
    versions = {
        "python": platform.python_version(),
        "torch": version("torch").partition("+")[0],
        "sglang-kunlun-reference": version("sglang-kunlun-reference"),
    }
    return evidence.distil(release, settings, versions, dims)


@pytest.fixture(scope="session")
def card_bytes():
    """Bytes of the card that the engines of ranks, card and int8 have."""
    return CARD


@pytest.fixture(scope="session")
def builder():
    from sglang_contracts.live.build import Builder

    return Builder()


@pytest.fixture(scope="session")
def release(builder):
    return builder.release


@pytest.fixture(scope="session")
def served(request):
    """The reference and the runs, when they have ended."""
    if not Differences(installed_release()).has_attention_registry:
        pytest.skip("no attention registry before 0.5.3: builders only")
    return request.config.stash[serving].result()


@pytest.fixture(scope="session")
def expected(served):
    return served[0]


@pytest.fixture(scope="session")
def runs(served):
    return served[1]


@pytest.fixture(scope="session")
def seen(release, expected, runs):
    """The evidence of these runs."""
    jobs = [job for job, _ in runs.values()]
    found = gathered(release, jobs, tiny.DIMS)
    if RECORD:
        evidence.save(found, FOLDER)
        record_further(jobs[0].trace.parents[1], expected.model, release)
    return found


def _late(name, text):
    """A fixture that waits for one of the jobs of :func:`start_servers`."""

    @pytest.fixture(scope="session", name=name)
    def found(request):
        jobs = request.config.stash[level_5]
        if name not in jobs:
            pytest.skip(f"not in this line: {text} (tox -e sglang-{LATE[name][-1]} has it)")
        return jobs[name].result()

    return found


level_five = _late("level_five", "the report of level 5 on a server as it is")
defects = _late("defects", "for each defect of a server, what its check said")
ranks_run = _late("ranks_run", "an engine of two ranks")
card_run = _late("card_run", "an engine on the simulated card")
int8_run = _late("int8_run", "an engine of quantised weights")
