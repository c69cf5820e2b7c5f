"""A server that speaks SGLang's HTTP interface and computes with hashes: no SGLang, no model.

Its faults are the serving mutants: each is switched on by name.
"""

import contextlib
import hashlib
import json
import select
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = 4
CAPACITY = 20_000
LONG = 400
"""Tokens of an answer that takes long: as long as its client wants."""
PREFILL, DECODE = "fake_ops.prefill", "fake_ops.decode"


def number(*parts):
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=6).digest(), "big")


def logprob(before, token):
    return -1.0 - number(tuple(before), token) % 1000 / 1000


def following(ids):
    return 3 + number("next", tuple(ids)) % 400


class Engine:
    """What stands behind the pages: the model, the prefix cache, the pool's book."""

    def __init__(self, faults=()):
        self.faults = set(faults)
        self.lock = threading.RLock()
        self.prefixes, self.aborted, self.leaked = set(), set(), 0
        self.counted = {"prompt": 0, "generation": 0, "requests": 0}
        self.batches = {}
        self.log = []
        self.running, self.peak = 0, 0
        self.waiting = []
        self.left_until_death = None

    def cached(self, ids):
        with self.lock:
            full = [n for n in range(PAGE, len(ids), PAGE) if tuple(ids[:n]) in self.prefixes]
            found = max(full, default=0)
            self.prefixes.update(tuple(ids[:n]) for n in range(PAGE, len(ids) + 1, PAGE))
        return found

    def kernel(self, mode, rid):
        kernel = PREFILL if mode == "EXTEND" else DECODE
        if "fallback" in self.faults and mode == "EXTEND":
            kernel = "torch.sdpa"
        with self.lock:
            self.batches[kernel, mode] = self.batches.get((kernel, mode), 0) + 1
            self.log.append(f"[..] backend=fake kernel={kernel} mode={mode} requests={rid}")

    def tokens(self, ids, count, cached):
        """The answer, token by token."""
        seen = list(ids)
        if "stale" in self.faults and cached:
            seen = [5] * cached + seen[cached:]
        for _ in range(count):
            token = following(seen)
            yield token, logprob(seen, token)
            seen.append(token)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @property
    def engine(self):
        return self.server.engine

    def reply(self, status, content, kind="application/json"):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        if "drops-401" in self.engine.faults and status == 401:
            status, body = 200, b"{}"
        self.send_response(status)
        self.marked()
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def marked(self):
        if "no-middleware" not in self.engine.faults:
            self.send_header("x-fake-backend", "fake")

    def allowed(self):
        key, path = self.server.key, self.path
        given = self.headers.get("Authorization")
        if key and path not in ("/health", "/metrics") and given != f"Bearer {key}":
            self.reply(401, {"error": "Unauthorized"})
            return False
        refused = path == "/generate" and self.headers.get("x-fake-token") != "T"
        if refused and "token-fails-open" not in self.engine.faults:
            self.reply(403, {"error": "Forbidden"})
            return False
        return True

    def do_GET(self):
        engine = self.engine
        if not self.allowed():
            return
        if self.path in ("/health", "/health_generate"):
            self.reply(200, b"")
        elif self.path == "/server_info":
            self.reply(
                200,
                {
                    "version": "0.5.23",
                    "attention_backend": "fake",
                    "page_size": PAGE,
                    "max_total_num_tokens": CAPACITY,
                    "model_path": "/m/tiny",
                },
            )
        elif self.path == "/model_info":
            self.reply(200, {"model_path": "/m/tiny"})
        elif self.path == "/metrics":
            self.reply(200, self.metrics(engine).encode(), "text/plain")
        else:
            self.reply(404, {"detail": "Not Found"})

    def metrics(self, engine):
        with engine.lock:
            counted, free = dict(engine.counted), CAPACITY - engine.leaked
            batches = dict(engine.batches)
        prefix = "vendor:" if "renamed" in engine.faults else "sglang:"
        lines = [
            "# HELP x y",
            f"{prefix}prompt_tokens_total {counted['prompt']}",
            f'sglang:generation_tokens_total{{model_name="m"}} {counted["generation"]}',
            f"sglang:time_to_first_token_seconds_count {counted['requests']}",
            f"sglang:e2e_request_latency_seconds_count {counted['requests']}",
            f"sglang:num_running_reqs {engine.running}",
            "sglang:token_usage 0.0",
            f"sglang:max_total_num_tokens {CAPACITY}",
            f"sglang:kv_available_tokens {free}",
            "sglang:kv_evictable_tokens 0",
        ]
        lines += [
            f'fake:batches_total{{kernel="{kernel}",mode="{mode}"}} {count}'
            for (kernel, mode), count in batches.items()
        ]
        return "\n".join(lines) + "\n"

    def do_POST(self):
        engine = self.engine
        length = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(length)
        if not self.allowed():
            return
        if self.path == "/flush_cache":
            with engine.lock:
                engine.prefixes.clear()
                engine.leaked = 0  # as SGLang: the pool is set up anew
            self.reply(200, b"flushed", "text/plain")
        elif self.path == "/abort_request":
            engine.aborted.add(json.loads(data)["rid"])
            self.reply(200, b"")
        elif self.path == "/generate":
            self.generate(data)
        else:
            self.reply(404, {"detail": "Not Found"})

    def generate(self, data):
        engine = self.engine
        try:
            body = json.loads(data)
            ids = body.get("input_ids") or [3 + b for b in body["text"].encode()]
            count = body["sampling_params"]["max_new_tokens"]
            if count < 0 or len(ids) + count > CAPACITY:
                raise ValueError(len(ids))
        except (ValueError, KeyError, AttributeError, TypeError):
            if "swallows-bad-requests" in engine.faults:
                return self.reply(200, {"text": "", "meta_info": {}})
            return self.reply(400, {"error": "bad request"})
        with engine.lock:
            engine.running += 1
            engine.peak = max(engine.peak, engine.running)
            engine.counted["requests"] += 1
            engine.counted["prompt"] += len(ids)
            engine.counted["generation"] += count
            if engine.left_until_death is not None:
                engine.left_until_death -= 1
                if engine.left_until_death < 0:
                    return self.server.die()
        rid = body.get("rid") or f"r{number(ids)}"
        cached = engine.cached(ids)
        engine.kernel("EXTEND", rid)
        engine.kernel("DECODE", rid)
        steps = list(engine.tokens(ids, count, cached))
        steps = self.swapped(ids, steps)
        found = self.found(body, rid, ids, cached, steps)
        try:
            self.stream(body, rid, found) if body.get("stream") else self.reply(200, found)
        finally:
            with engine.lock:
                engine.running -= 1

    def waits_for_the_client(self, rid):
        """A long answer goes on until it is aborted; False: the client has hung up."""
        while rid not in self.engine.aborted:
            readable, _, _ = select.select([self.connection], [], [], 0.01)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                return False
        return True

    def swapped(self, ids, steps):
        """Two requests that are there at once get each other's tokens."""
        engine = self.engine
        if "swapped" not in engine.faults:
            return steps
        time.sleep(0.05)  # asked at once is there at once, however slowly threads begin
        with engine.lock:
            if engine.running < 2 and not engine.waiting:
                return steps
            if engine.waiting and engine.waiting[0][0] is not None:
                other = engine.waiting.pop()
                return other[1][: len(steps)] if len(other[1]) >= len(steps) else steps
            engine.waiting.append((ids, steps))
        return steps

    def found(self, body, rid, ids, cached, steps):
        info = {
            "id": rid,
            "prompt_tokens": len(ids),
            "cached_tokens": cached,
            "finish_reason": {"type": "length"},
        }
        if body.get("return_logprob"):
            info["output_token_logprobs"] = [[lp, token, None] for token, lp in steps]
        if body.get("logprob_start_len") == 0:
            shift = 0.2 if "other-weights" in self.engine.faults else 0.0
            info["input_token_logprobs"] = [
                [None if n == 0 else logprob(ids[:n], token) - shift, token, None]
                for n, token in enumerate(ids)
            ]
        if body.get("top_logprobs_num"):
            info["output_top_logprobs"] = [[[lp, t, None], [lp - 0.5, 4, None]] for t, lp in steps]
        return {"text": "x" * len(steps), "output_ids": [t for t, _ in steps], "meta_info": info}

    def stream(self, body, rid, found):
        engine = self.engine
        self.send_response(200)
        self.marked()
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        held = "buffers-streams" in engine.faults
        pieces, left = [], False
        for count in range(1, len(found["output_ids"]) + 1):
            last = count == len(found["output_ids"])
            waits = count == 2 and len(found["output_ids"]) >= LONG and not held
            if waits and not self.waits_for_the_client(rid):
                left = True
                break
            stopped = rid in engine.aborted
            info = {**found["meta_info"], "finish_reason": None}
            if last or stopped:
                info["finish_reason"] = {"type": "abort" if stopped else "length"}
            piece = {"text": "", "output_ids": found["output_ids"][:count], "meta_info": info}
            pieces = [piece] if not held else [*pieces, piece]
            if not held or last:
                try:
                    for each in pieces:
                        self.wfile.write(b"data: " + json.dumps(each).encode() + b"\n\n")
                except OSError:
                    left = True
                    break
            if stopped:
                left = True
                break
        if left and "leaks" in engine.faults:
            with engine.lock:
                engine.leaked += 64
        if not left or rid in engine.aborted:
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


class FakeServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, faults=(), key="K"):
        super().__init__(("127.0.0.1", 0), Handler)
        self.engine, self.key = Engine(faults), key
        self.open = set()
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def get_request(self):
        connection, address = super().get_request()
        self.open.add(connection)
        return connection, address

    def handle_error(self, request, client_address):
        pass

    def die(self):
        """End in the middle: no further connection, and those that are open break."""
        self.socket.close()
        for connection in self.open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        threading.Thread(target=self.shutdown, daemon=True).start()

    def end(self):
        self.shutdown()
        self.server_close()
