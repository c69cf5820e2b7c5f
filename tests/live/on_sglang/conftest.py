"""Tests that need a real SGLang: run by ``tox -e sglang-<release>``."""

import importlib.util
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.live import evidence, shim
from sglang_contracts.live.build import installed_release
from sglang_contracts.live.differences import Differences
from sglang_contracts.live.engine import KUNLUN, Job, run
from sglang_contracts.live.environments import PROJECT
from sglang_contracts.live.reference import CHUNK, GROUPS, reference
from sglang_contracts.live.trace import WANTED

# Upstream's paged allocator launches Triton up to 0.5.21: its interpreter runs that on a CPU.
os.environ.setdefault("TRITON_INTERPRET", "1")
os.environ.setdefault("SGLANG_CONTRACTS_SDK", "shim")
if importlib.util.find_spec("sglang") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    shim.install()
    os.environ.update(shim.environment())


REGISTER = "kunlun=kunlun_backend.backend:KunlunAttentionBackend"
serving = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption("--expect-sglang", help="fail unless this sglang-<release> is installed")


def pytest_configure(config):
    wanted = config.getoption("--expect-sglang", default=None)
    if wanted and f"sglang-{installed_release()}" != wanted:
        raise pytest.UsageError(f"SGLang {installed_release()} is installed, not {wanted}")


def pytest_collection_modifyitems(items):
    """Last, those that wait for the engines."""
    items.sort(key=lambda item: "served" in getattr(item, "fixturenames", ()))


def pytest_collection_finish(session):
    """Start the engines now: they run in processes of their own beside the other tests."""
    wanted = any("served" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and Differences(installed_release()).has_attention_registry:
        shared = os.environ.get("SGLANG_CONTRACTS_LIVE")
        work = Path(shared or tempfile.mkdtemp(prefix="sglang-contracts-live-"))
        session.config.stash[serving] = ThreadPoolExecutor(1).submit(serve, work)


def serve(work):
    """The reference and one engine run for each page size that the release can serve.

    The smaller page size mixes decodes into prefill batches. Triton's interpreter, which upstream's
    paged allocator needs where no plugin brings another, takes it from 0.5.5 on.
    """
    release = installed_release()
    differences = Differences(release)
    plugin = differences.has_platforms
    expected = reference(work, release)
    jobs = {}
    for page_size in (1, 16) if plugin or differences.since("0.5.5") else (1,):
        folder = work / f"run-{release}-{page_size}"
        shutil.rmtree(folder / "trace", ignore_errors=True)
        (folder / "trace").mkdir(parents=True)
        (folder / "trace" / WANTED).write_text(evidence.wanted(load_contracts()))
        job = Job(
            expected.model,
            KUNLUN,
            page_size,
            GROUPS,
            {"chunked_prefill_size": CHUNK, "enable_mixed_chunk": page_size == 1},
            platform=KUNLUN if plugin else "",
            register="" if plugin else REGISTER,
            trace=folder / "trace",
        )
        jobs[page_size] = (job, folder)
    with ThreadPoolExecutor() as pool:  # start-up is all imports: two cost little more
        results = pool.map(lambda item: run(item[0], release, item[1]), jobs.values())
        found = {
            size: (job, result)
            for (size, (job, _)), result in zip(jobs.items(), results, strict=True)
        }
    return expected, found


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
def seen(builder, runs):
    """The evidence of these runs."""
    import platform
    from importlib.metadata import version

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
        for job, _ in runs.values()
    ]
    versions = {
        "python": platform.python_version(),
        "torch": version("torch").partition("+")[0],
        "sglang-kunlun-reference": version("sglang-kunlun-reference"),
    }
    found = evidence.distil(builder.release, settings, versions, evidence.TINY_DIMS)
    if os.environ.get("SGLANG_CONTRACTS_RECORD"):
        evidence.save(found, PROJECT / "matrix" / "evidence")
    return found
