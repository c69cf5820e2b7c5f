"""Tests that need a real SGLang: run by ``tox -e sglang-<release>``."""

import importlib.util
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.live import evidence, shim
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


def pytest_addoption(parser):
    parser.addoption("--expect-sglang", help="fail unless this sglang-<release> is installed")


def pytest_configure(config):
    wanted = config.getoption("--expect-sglang", default=None)
    if wanted:
        from sglang_contracts.live.build import installed_release

        found = f"sglang-{installed_release()}"
        if found != wanted:
            raise pytest.UsageError(f"{found} is installed, {wanted} was asked for")


@pytest.fixture(scope="session")
def builder():
    from sglang_contracts.live.build import Builder

    return Builder()


@pytest.fixture(scope="session")
def release(builder):
    return builder.release


REGISTER = "kunlun=kunlun_backend.backend:KunlunAttentionBackend"


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    shared = os.environ.get("SGLANG_CONTRACTS_LIVE")
    return Path(shared) if shared else tmp_path_factory.mktemp("live")


@pytest.fixture(scope="session")
def expected(builder, work):
    if not builder.differences.has_attention_registry:
        pytest.skip("no attention registry before 0.5.3: builders only")
    return reference(work, builder.release)


@pytest.fixture(scope="session")
def pages(builder):
    """Page sizes that can be served: Triton's interpreter takes upstream's allocator from 0.5.5."""
    large = builder.differences.has_platforms or builder.differences.since("0.5.5")
    return (1, 16) if large else (1,)


@pytest.fixture(scope="session")
def runs(builder, pages, expected, work):
    """One engine run for each page size; the smaller one mixes decodes into prefill batches."""
    plugin = builder.differences.has_platforms
    jobs = {}
    for page_size in pages:
        folder = work / f"run-{builder.release}-{page_size}"
        shutil.rmtree(folder / "trace", ignore_errors=True)
        (folder / "trace").mkdir(parents=True)
        (folder / "trace" / WANTED).write_text(evidence.wanted(load_contracts()))
        options = {"chunked_prefill_size": CHUNK, "enable_mixed_chunk": page_size == 1}
        job = Job(
            expected.model,
            KUNLUN,
            page_size,
            GROUPS,
            options,
            platform=KUNLUN if plugin else "",
            register="" if plugin else REGISTER,
            trace=folder / "trace",
        )
        jobs[page_size] = (job, folder)
    with ThreadPoolExecutor() as pool:  # start-up is all imports: two cost little more
        results = pool.map(lambda item: run(item[0], builder.release, item[1]), jobs.values())
        return {
            size: (job, result)
            for (size, (job, _)), result in zip(jobs.items(), results, strict=True)
        }


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
