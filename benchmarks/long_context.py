"""Prefill of a 32,000-token prompt: the reference backend against plain quadratic attention.

    python benchmarks/long_context.py [--tokens 32000] [--at-most 0.2]

Runs the real engine on the tiny model, on the installed SGLang: with the reference plugin, and with
a backend that computes attention in the obvious way (a full score matrix for each request and
chunk, with repeated heads in float32), as a first port of a backend does. Both use the plugin's
platform, pool and allocator. The reference, which takes seconds where the other takes minutes, runs
before and after it, and the better of the two counts: a machine that is busy for a moment does not
decide. Exits with 1 if the reference takes more than the given fraction.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

CHUNK = 4096


def make(runner: Any) -> Any:
    """A backend that writes keys and values as every other, and then attends the obvious way."""
    import torch
    from kunlun_backend.backend import KunlunAttentionBackend

    from sglang_contracts.live.build import installed_release
    from sglang_contracts.live.differences import Differences

    differences = Differences(installed_release())

    class Quadratic(KunlunAttentionBackend):
        """Everything but the attention itself is the reference's."""

        def init_forward_metadata(self, forward_batch: Any) -> None:
            """Nothing is prepared: every layer asks for the lengths again."""

        def forward_extend(
            self,
            q: Any,
            k: Any,
            v: Any,
            layer: Any,
            forward_batch: Any,
            save_kv_cache: bool = True,
            **_: Any,
        ) -> Any:
            """Prefill."""
            counts = forward_batch.extend_seq_lens.tolist()
            return self._attend(q, k, v, layer, forward_batch, counts, save_kv_cache)

        def forward_decode(
            self,
            q: Any,
            k: Any,
            v: Any,
            layer: Any,
            forward_batch: Any,
            save_kv_cache: bool = True,
            **_: Any,
        ) -> Any:
            """Decode."""
            counts = [1] * forward_batch.batch_size
            return self._attend(q, k, v, layer, forward_batch, counts, save_kv_cache)

        def _attend(
            self, q: Any, k: Any, v: Any, layer: Any, batch: Any, counts: list[int], save: bool
        ) -> Any:
            heads, kv_heads, dim = layer.tp_q_head_num, layer.tp_k_head_num, layer.qk_head_dim
            pool = runner.token_to_kv_pool
            if save:
                pool.set_kv_buffer(
                    layer,
                    differences.write_location(batch.out_cache_loc),
                    k.view(-1, kv_heads, dim),
                    v.view(-1, kv_heads, layer.v_head_dim),
                )
            keys = pool.get_key_buffer(layer.layer_id)
            values = pool.get_value_buffer(layer.layer_id)
            table = runner.req_to_token_pool.req_to_token
            q, offset, parts = q.view(-1, heads, dim), 0, []
            for row, count, length in zip(
                batch.req_pool_indices.tolist(), counts, batch.seq_lens.tolist(), strict=True
            ):
                slots = table[row, :length].long()
                key, value = (
                    buffer[slots].float().repeat_interleave(heads // kv_heads, dim=1)
                    for buffer in (keys, values)
                )
                query = q[offset : offset + count].float()
                scores = torch.einsum("qhd,khd->hqk", query, key) * layer.scaling
                seen = torch.arange(length - count, length)[:, None]
                hidden = torch.arange(length)[None] > seen
                scores = scores.masked_fill(hidden, float("-inf"))
                parts.append(torch.einsum("hqk,khd->qhd", scores.softmax(-1), value))
                offset += count
            return torch.cat(parts).to(q.dtype).view(-1, heads * layer.v_head_dim)

    return Quadratic(runner)


def measure(name: str, tokens: int, work: Path, model: Path) -> tuple[float, tuple[int, ...]]:
    """Seconds that the engine takes from the request to the first two tokens, and these."""
    from sglang_contracts.live.build import installed_release
    from sglang_contracts.live.engine import KUNLUN, Group, Job, run

    prompt = tuple(3 + (42 * index * index + index) % 500 for index in range(tokens))
    job = Job(
        model,
        name,
        page_size=16,
        groups=(Group((prompt[:64],), new_tokens=1), Group((prompt,), new_tokens=2)),
        options={"chunked_prefill_size": CHUNK, "max_total_tokens": tokens + 4096},
        platform=KUNLUN,
        register="" if name == KUNLUN else f"{name}={Path(__file__).stem}:make",
    )
    result = run(job, installed_release(), work / name, timeout=3000)
    return result.seconds[-1], result.answers[-1][0].ids


def main() -> int:
    """Measure both and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tokens", type=int, default=32_000)
    parser.add_argument("--at-most", type=float, default=0.2, help="allowed fraction")
    chosen = parser.parse_args()
    from sglang_contracts.live import tiny
    from sglang_contracts.live.build import installed_release

    # The engine's processes import the backend above by the name of this file.
    here = str(Path(__file__).resolve().parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        part for part in (here, os.environ.get("PYTHONPATH", "")) if part
    )
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        model = tiny.make(work / "model")
        before, ids = measure("kunlun", chosen.tokens, work, model)
        quadratic, other = measure("quadratic", chosen.tokens, work, model)
        after, _ = measure("kunlun", chosen.tokens, work, model)
    fraction = min(before, after) / quadratic
    same = ids[0] == other[0]
    found = {
        "release": installed_release(),
        "tokens": chosen.tokens,
        "reference_seconds": [round(before, 2), round(after, 2)],
        "quadratic_seconds": round(quadratic, 2),
        "fraction": round(fraction, 3),
        "same_first_token": same,
    }
    print(json.dumps(found))
    return 0 if same and fraction <= chosen.at_most else 1


if __name__ == "__main__":
    sys.exit(main())
