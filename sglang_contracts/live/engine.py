"""Runs the real engine on a tiny model, in a process of its own.

:func:`run` starts ``python -m sglang_contracts.live.engine``, which imports SGLang, serves groups
of requests and writes what came out. The parent needs neither torch nor SGLang.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sglang_contracts import subprocesses
from sglang_contracts.errors import ContractsError
from sglang_contracts.live import card, memory_limit, register, shim, trace
from sglang_contracts.live.build import installed_release
from sglang_contracts.live.differences import Differences, symbol

KUNLUN = "kunlun"
TORCH_NATIVE = "torch_native"


@dataclass(frozen=True)
class Group:
    """Requests that are sent at once.

    Attributes:
        prompts: Token ids of each.
        new_tokens: How many tokens each gets (greedy, the end token is ignored).
        logprobs: Whether log-probabilities of prompt and output are wanted.
        sampling: Further sampling parameters of each prompt, by SGLang's names; empty: none.
        asked: Further keywords of ``Engine.generate``.
    """

    prompts: tuple[tuple[int, ...], ...]
    new_tokens: int = 8
    logprobs: bool = False
    sampling: tuple[dict[str, Any], ...] = ()
    asked: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What one request got.

    Attributes:
        ids: The generated tokens.
        cached: Prompt tokens taken from the prefix cache.
        input_logprobs: Log-probability of each prompt token but the first; empty where the
            release cannot give them on a CPU.
        output_logprobs: Log-probability of each generated token.
    """

    ids: tuple[int, ...]
    cached: int
    input_logprobs: tuple[float, ...] = ()
    output_logprobs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Result:
    """What a run gave.

    Attributes:
        answers: For each group, the answers in order.
        seconds: Wall time of each group; the first entry is the start of the engine.
        log: What the engine printed.
    """

    answers: tuple[tuple[Answer, ...], ...]
    seconds: tuple[float, ...]
    log: str


@dataclass(frozen=True)
class Job:
    """One engine run.

    Attributes:
        model: Folder of the model (:mod:`sglang_contracts.live.tiny`).
        backend: Name of the attention backend.
        page_size: Slots of a page.
        groups: What is served, one group after the other.
        options: Further keywords of SGLang's ``Engine``.
        platform: Name of the platform plugin; empty for SGLang's own CPU platform.
        register: ``name=module:Class`` for releases without plugins.
        trace: Folder for the trace; None: not traced.
        card: Folder for what happens on the simulated card; None: it computes on the CPU.
        kernels: Folder for the SDK's kernels that ran on the CPU; None: they are not counted.
        variables: Further environment variables.
    """

    model: Path
    backend: str
    page_size: int
    groups: tuple[Group, ...]
    options: dict[str, Any] = field(default_factory=dict)
    platform: str = ""
    register: str = ""
    trace: Path | None = None
    card: Path | None = None
    kernels: Path | None = None
    variables: dict[str, str] = field(default_factory=dict)


def quiet_environment(base: Mapping[str, str]) -> dict[str, str]:
    """An environment in which SGLang asks no hub, compiles nothing and takes no one's choices.

    Args:
        base: What it starts from.
    """
    # The model lies on disk: nothing may be asked of a hub.
    result = dict(base) | {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        # What SGLang compiles of its samplers runs as written: compiling takes longer than serving.
        "TORCHDYNAMO_DISABLE": "1",
    }
    for name in ("TRITON_INTERPRET", "SGLANG_USE_CPU_ENGINE", "SGLANG_PLATFORM", "SGLANG_PLUGINS"):
        result.pop(name, None)
    return result


def environment(job: Job, release: str) -> dict[str, str]:
    """The variables a run needs.

    Args:
        job: The run.
        release: The installed SGLang.
    """
    differences = Differences(release)
    result = shim.environment(quiet_environment(os.environ))
    result["SGLANG_CONTRACTS_SDK"] = "shim"
    result[memory_limit.VARIABLE] = str(memory_limit.TINY)
    if job.platform:
        result["SGLANG_PLATFORM"] = job.platform
    else:
        result["SGLANG_USE_CPU_ENGINE"] = "1"
        # No plugin of this environment may take part: it would add its platform and its hooks.
        result["SGLANG_PLUGINS"] = "none"
        if differences.needs_triton_interpreter and job.page_size > 1:
            result["TRITON_INTERPRET"] = "1"
    for name, value in (
        (register.VARIABLE, job.register),
        (trace.VARIABLE, job.trace),
        (card.VARIABLE, job.card),
        (card.COUNTED, job.kernels),
    ):
        result.pop(name, None)
        if value:
            result[name] = str(value)
    return result | job.variables


def run(job: Job, release: str, folder: Path, timeout: float = 300) -> Result:
    """Run it.

    Args:
        job: What to run.
        release: The installed SGLang.
        folder: For the job, the answers and the log.
        timeout: Seconds after which the engine and all its processes are ended.

    Raises:
        ContractsError: The engine failed or did not end; the end of its log is in the message.
    """
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    # It runs in that folder: SGLang's processes must import nothing from the user's own.
    places = {
        name: place.absolute()
        for name in ("model", "trace", "card", "kernels")
        if (place := getattr(job, name)) is not None
    }
    job = replace(job, **places)
    request, answer, log = (folder / name for name in ("job.json", "answer.json", "engine.log"))
    answer.unlink(missing_ok=True)
    request.write_text(json.dumps(asdict(job), default=str), encoding="utf-8")
    own = ("-m", "sglang_contracts.live.engine")
    command = subprocesses.python(*own, str(request), str(answer))
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(  # noqa: S603 - our own module
            command,
            cwd=folder,
            env=environment(job, release),
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            status: int | str = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = f"no answer after {timeout:.0f} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its own group: what it has left behind
            process.wait()
    text = log.read_text(encoding="utf-8", errors="replace")
    if not answer.exists():
        tail = "\n".join(text.splitlines()[-40:])
        raise ContractsError(
            f"the engine of SGLang {release} failed ({status}) with backend {job.backend}, "
            f"page size {job.page_size}",
            f"its log is {log}; it ends with\n{tail}",
        )
    found = json.loads(answer.read_text(encoding="utf-8"))
    answers = tuple(tuple(_answer(item) for item in group) for group in found["answers"])
    return Result(answers, tuple(found["seconds"]), text)


def _answer(found: dict[str, Any]) -> Answer:
    return Answer(
        ids=tuple(found["ids"]),
        cached=found["cached"],
        input_logprobs=tuple(found["input_logprobs"]),
        output_logprobs=tuple(found["output_logprobs"]),
    )


def _read(output: dict[str, Any]) -> dict[str, Any]:
    info = output["meta_info"]
    taken = {
        name: [entry[0] for entry in info.get(key, []) if entry[0] is not None]
        for name, key in (
            ("input_logprobs", "input_token_logprobs"),
            ("output_logprobs", "output_token_logprobs"),
        )
    }
    return {"ids": output["output_ids"], "cached": info.get("cached_tokens", 0), **taken}


_ports = itertools.count(os.getpid() * 7)


def free_port() -> int:
    """A free port from 20000 to 29999: some releases also take those 10,000 above it.

    Another one at each call: it may be some time until it is bound.
    """
    for offset in itertools.islice(_ports, 10_000):
        port = 20_000 + offset % 10_000
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no port from 20000 to 29999 is free")


def end_with_parent() -> None:
    """End the engine with all its processes when whoever started it is gone."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)
    if os.getpgrp() == os.getpid():  # a group of its own, as run() starts it
        os.killpg(os.getpgrp(), signal.SIGKILL)


def main(arguments: Sequence[str]) -> None:
    """Serve the job in file ``arguments[0]`` and write the answers to ``arguments[1]``."""
    import asyncio

    memory_limit.apply()
    engine_class = symbol("sglang.srt.entrypoints.engine:Engine")

    threading.Thread(target=end_with_parent, daemon=True).start()
    job = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    differences = Differences(installed_release())
    asyncio.set_event_loop(asyncio.new_event_loop())  # up to 0.5.3 the engine expects one
    times, answers = [time.monotonic()], []
    settings: dict[str, Any] = {
        "model_path": job["model"],
        "device": card.DEVICE if job.get("card") else "cpu",
        "dtype": "bfloat16",
        "attention_backend": job["backend"],
        "sampling_backend": "pytorch",
        "page_size": job["page_size"],
        # Of the host's memory, whose free part depends on who else runs: the number of tokens
        # bounds the pool, and this must never be what refuses to start.
        "mem_fraction_static": 0.9,
        "max_total_tokens": 4096,
        "disable_overlap_schedule": True,
        "disable_cuda_graph": True,
        "skip_tokenizer_init": True,
        "log_level": "info",
        "port": free_port(),  # the ports of the engine's processes are looked for from here on
    }
    engine = engine_class(**settings | job["options"])
    times.append(time.monotonic())
    for group in job["groups"]:
        plain = {"temperature": 0, "max_new_tokens": group["new_tokens"], "ignore_eos": True}
        sampling = [{**plain, **each} for each in group["sampling"]] or plain
        wanted = {"return_logprob": group["logprobs"], **group["asked"]}
        if group["logprobs"] and differences.prompt_logprobs:
            wanted["logprob_start_len"] = 0
        prompts = [list(prompt) for prompt in group["prompts"]]
        outputs = engine.generate(input_ids=prompts, sampling_params=sampling, **wanted)
        answers.append([_read(output) for output in outputs])
        times.append(time.monotonic())
    seconds = [after - before for before, after in itertools.pairwise(times)]
    target = Path(arguments[1])
    temporary = target.with_suffix(".new")
    temporary.write_text(json.dumps({"answers": answers, "seconds": seconds}), encoding="utf-8")
    temporary.replace(target)
    engine.shutdown()
    gc.freeze()  # looking through millions of objects once more would take two seconds


if __name__ == "__main__":
    main(sys.argv[1:])
