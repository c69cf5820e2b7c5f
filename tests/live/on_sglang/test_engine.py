"""The real engine, on the reference plugin, gives what SGLang's own backend gives."""

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.live import evidence
from sglang_contracts.live.engine import KUNLUN, TORCH_NATIVE, Job, run
from sglang_contracts.live.reference import CHUNK, GROUPS, PROMPTS, reference
from sglang_contracts.live.trace import WANTED

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


def pages(builder):
    """Page sizes that can be served: Triton's interpreter takes upstream's allocator from 0.5.5."""
    large = builder.differences.has_platforms or builder.differences.since("0.5.5")
    return (1, 16) if large else (1,)


@pytest.fixture(scope="session")
def runs(builder, expected, work):
    """One engine run for each page size; the smaller one mixes decodes into prefill batches."""
    plugin = builder.differences.has_platforms
    jobs = {}
    for page_size in pages(builder):
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
    return evidence.distil(builder.release, settings, versions, evidence.TINY_DIMS)


def test_token_ids_equal_torch_native_at_each_page_size(runs, expected):
    for _, result in runs.values():
        ids = [[answer.ids for answer in group] for group in result.answers]
        assert ids == [[answer.ids for answer in group] for group in expected.answers]


def test_a_prefix_that_was_served_before_is_reused(runs):
    for page_size, (_, result) in runs.items():
        (answer,) = result.answers[1]
        assert answer.cached == len(PROMPTS[2]) // page_size * page_size


def test_logprobs_are_those_of_hugging_face_in_bfloat16(builder, runs, expected):
    for _, result in runs.values():
        for answer, wanted in zip(result.answers[-1], expected.logprobs, strict=True):
            found = (*answer.input_logprobs, *answer.output_logprobs)
            if not builder.differences.prompt_logprobs:
                wanted = wanted[-len(answer.ids) :]
            assert found == pytest.approx(wanted, abs=0.01)


def test_the_kunlun_backend_pool_and_allocator_served(builder, runs, seen):
    classes = {role: found.cls for role, found in seen.objects.items()}
    assert classes["backend"] == "kunlun_backend.backend:KunlunAttentionBackend"
    if builder.differences.has_platforms:
        assert classes["platform"].startswith("kunlun_backend.")
        assert {classes["kv_pool@1"], classes["kv_pool@16"]} == {
            "kunlun_backend.pool:KunlunMHATokenToKVPool"
        }
        assert (
            classes["allocator@16"] == "kunlun_backend.allocator:KunlunPagedTokenToKVPoolAllocator"
        )


def test_prefill_chunks_on_a_prefix_and_decodes_both_occurred(builder, seen):
    assert {"extend", "decode", "mixed"} <= seen.modes
    assert any(batch.prefix and "extend" in batch.modes for batch in seen.batches)
    assert {batch.page_size for batch in seen.batches} == set(pages(builder))


def test_nothing_stood_in_for_was_called(runs):
    for _, result in runs.values():
        assert not re.search("StandInCallError", result.log)


def test_torch_native_is_not_the_backend_under_test(expected):
    """The reference comes from another backend than the one it judges."""
    assert TORCH_NATIVE != KUNLUN
    assert expected.answers
