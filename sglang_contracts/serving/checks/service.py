"""The service around the model: health, keys, the plugin's middleware, metrics, its log."""

from __future__ import annotations

import time

from sglang_contracts.serving.client import Prompt, Reply
from sglang_contracts.serving.kernel_log import kernel_name, served
from sglang_contracts.serving.registry import check
from sglang_contracts.serving.session import Patience, Session, tokens
from sglang_contracts.suite.violation import Inapplicable, expect

PATIENCE = 10.0
"""Seconds without computing until what was logged must be there: other processes write it."""

LONG = 400
"""Tokens of an answer that nobody waits for."""

METRICS = (
    "sglang:prompt_tokens_total",
    "sglang:generation_tokens_total",
    "sglang:time_to_first_token_seconds_count",
    "sglang:e2e_request_latency_seconds_count",
    "sglang:num_running_reqs",
    "sglang:token_usage",
)
"""Names that dashboards of SGLang stand on."""


@check(
    "service.health",
    5,
    "the server says that it is healthy, also where it has to compute something for it",
    why="an orchestrator restarts what does not say so, in the middle of requests",
)
def health(session: Session) -> None:
    """Ask both health pages and what the server says of itself."""
    for path in ("/health", "/health_generate"):
        reply = session.client.request("GET", path)
        expect(reply.status == 200, f"GET {path}: status {reply.status}: {reply.excerpt()}")
    if session.backend:
        found = session.info.get("attention_backend")
        expect(
            found == session.backend,
            f"the server says that its attention backend is {found!r}, not {session.backend!r}",
        )


@check(
    "service.refuses-what-is-no-request",
    5,
    "a body that is no request is refused with a 4xx, and the server goes on",
    why="one malformed request must not end a server that thousands use",
)
def refuses_what_is_no_request(session: Session) -> None:
    """Send broken JSON, wrong types and a prompt that is too long."""
    longest = session.longest
    for said, body in (
        ("broken JSON", b'{"text": '),
        ("a number as text", {"text": 5}),
        ("neither text nor tokens", {"sampling_params": {"max_new_tokens": 1}}),
        ("a negative number of tokens", {"text": "a", "sampling_params": {"max_new_tokens": -1}}),
        ("a prompt that is too long", Prompt(tokens(1, longest + 4096), new_tokens=1).body()),
    ):
        reply = session.client.request("POST", "/generate", body)
        expect(
            400 <= reply.status < 500,
            f"{said}: status {reply.status} where a 4xx was due: {reply.excerpt()}",
        )
    expect(session.alive(), "after these requests the server is not healthy any more")
    session.client.generate(Prompt(tokens(2, 8), new_tokens=1))


@check(
    "service.api-key",
    5,
    "without the right API key a request is refused with 401, whatever stands in between",
    why="a middleware that swallows the refusal opens the server to everybody",
)
def api_key(session: Session) -> None:
    """Ask without a key, with a wrong one, and with the right one."""
    if not session.client.key:
        raise Inapplicable("the server has no API key (serve-check --api-key)")
    body = Prompt(tokens(3, 8), new_tokens=1).body()
    extra = dict(session.client.headers)
    for said, headers in (
        ("without an API key", extra),
        ("with a wrong API key", {**extra, "Authorization": "Bearer wrong"}),
    ):
        for method, path, sent in (("POST", "/generate", body), ("GET", "/server_info", None)):
            reply = session.client.request(method, path, sent, headers=headers)
            expect(
                reply.status == 401,
                f"{method} {path} {said}: status {reply.status} where 401 was due",
            )
            _marked(session, reply, f"{method} {path} {said}")
    reply = session.client.request("POST", "/generate", body)
    expect(reply.status == 200, f"POST /generate with the key: status {reply.status}")


@check(
    "service.middleware-called",
    5,
    "the plugin's middleware is called for every answer, and passes streams on as they come",
    why="a middleware that is registered and never called governs nothing",
)
def middleware_called(session: Session) -> None:
    """Look for its header on answers, refusals and streams."""
    if not session.service.header:
        raise Inapplicable("the plugin declares no 'service.header' that its middleware sets")
    body = Prompt(tokens(4, 8), new_tokens=1).body()
    for said, reply in (
        ("POST /generate", session.client.request("POST", "/generate", body)),
        ("a refused request", session.client.request("POST", "/generate", b"{")),
        ("a page that is not there", session.client.request("GET", "/nowhere")),
    ):
        _marked(session, reply, said)
    # Whether a stream is held back is told by what can still be done about it, not by a clock.
    rid, last = session.rid(), None
    pieces = session.client.pieces(Prompt(tokens(4, 8), new_tokens=LONG, logprobs=False, rid=rid))
    next(pieces)
    session.client.request("POST", "/abort_request", {"rid": rid})
    for piece in pieces:
        last = piece
    ended = ((last or {}).get("meta_info", {}).get("finish_reason") or {}).get("type")
    expect(
        ended != "length",
        f"a stream of {LONG} tokens was complete when its first piece came: something holds "
        "streams back",
    )


def _marked(session: Session, reply: Reply, said: str) -> None:
    header = session.service.header
    expect(
        not header or header.lower() in reply.headers,
        f"{said}: status {reply.status}, without the header '{header}' of the plugin's middleware",
    )


@check(
    "service.token-check",
    5,
    "the plugin's own check of tokens refuses with 403, and lets the right token through",
    why="a check that fails open is none",
)
def token_check(session: Session) -> None:
    """Ask with a wrong token, without one, and with the right one."""
    name = session.service.token_header
    if not name or not session.service.token:
        raise Inapplicable("the plugin declares no 'service.token-header', or none is switched on")
    body = Prompt(tokens(5, 8), new_tokens=1).body()
    key = {"Authorization": f"Bearer {session.client.key}"} if session.client.key else {}
    for said, headers in (("without a token", key), ("with a wrong token", {**key, name: "no"})):
        reply = session.client.request("POST", "/generate", body, headers=headers)
        expect(
            reply.status == 403,
            f"POST /generate {said} ({name}): status {reply.status} where 403 was due",
        )
    reply = session.client.request("POST", "/generate", body)
    expect(reply.status == 200, f"POST /generate with the token: status {reply.status}")


@check(
    "service.metrics",
    5,
    "/metrics has SGLang's names and the plugin's, and they count what is served",
    why="alarms stand on names: one that is renamed never rings again",
)
def counted(session: Session) -> None:
    """Read the page, serve a request, read it again."""
    before = session.metrics()
    wanted = {*METRICS, *session.service.metrics}
    session.client.generate(Prompt(tokens(6, 40), new_tokens=4))
    after = session.metrics()
    lost = sorted(wanted - after.names)
    expect(not lost, f"/metrics has no {', '.join(lost)}")
    for name in ("sglang:prompt_tokens_total", "sglang:generation_tokens_total"):
        old, new = before.total(name) or 0.0, after.total(name) or 0.0
        expect(new > old, f"{name} is {new:g} after a request, and was {old:g} before")
    metric = session.service.kernel_metric
    if metric:
        old, new = before.total(metric) or 0.0, after.total(metric) or 0.0
        expect(new > old, f"{metric} is {new:g} after a request, and was {old:g} before")


@check(
    "service.kernel-path",
    5,
    "the log, or a metric, says of each request which backend and kernels served it: its own",
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="a fall-back kernel answers rightly and ten times slower; only the log can tell",
)
def kernel_path(session: Session) -> None:
    """Serve requests by name and look each of them up."""
    wanted = {
        mode: {kernel_name(each) for each in session.kernels.get(path, ())}
        for mode, path in (("EXTEND", "prefill"), ("DECODE", "decode"))
    }
    if not any(wanted.values()):
        raise Inapplicable("the plugin declares no 'kernels' of prefill and decode")
    looked = False
    if session.server is not None:
        looked = _in_the_log(session, wanted)
    if session.service.kernel_metric:
        _in_the_metric(session, wanted)
    elif not looked:
        raise Inapplicable(
            "the server's log is not at hand, and the plugin declares no 'service.kernel-metric'"
        )


def _in_the_log(session: Session, wanted: dict[str, set[str]]) -> bool:
    assert session.server is not None
    rids = [session.rid() for _ in range(4)]
    for index, rid in enumerate(rids):
        ids = tokens(700 + index, 20 + 11 * index)
        session.client.generate(Prompt(ids, new_tokens=3, rid=rid))
    patience = Patience(session, PATIENCE)
    while True:
        seen = [each for each in served(session.server.lines()) if {*each.rids} & {*rids}]
        found = {(rid, each.mode) for each in seen for rid in each.rids}
        lost = [
            (r, mode) for r in rids for mode in wanted if wanted[mode] and (r, mode) not in found
        ]
        if not lost or patience.over():
            break
        time.sleep(0.1)
    expect(
        not lost,
        f"the server's log says of {len(lost)} of {2 * len(rids)} steps of {len(rids)} requests "
        f"not which kernel served them, {lost[0][1]} of {lost[0][0]} for one"
        if lost
        else "",
    )
    for each in seen:
        kernels = wanted.get(each.mode, set())
        expect(
            not kernels or each.kernel in kernels,
            f"{each.mode} of request {each.rids[0]} ran on {each.kernel}; the plugin declares "
            f"{', '.join(sorted(kernels))}: a fall-back kernel",
        )
        expect(
            not session.backend or each.backend == session.backend,
            f"request {each.rids[0]} was served by backend {each.backend}, not {session.backend}",
        )
    return True


def _in_the_metric(session: Session, wanted: dict[str, set[str]]) -> None:
    name = session.service.kernel_metric
    before = {
        (s.labels.get("kernel"), s.labels.get("mode")): s.value for s in session.metrics().of(name)
    }
    session.client.generate(Prompt(tokens(710, 33), new_tokens=3))
    ran = {
        (s.labels.get("kernel", ""), s.labels.get("mode", ""))
        for s in session.metrics().of(name)
        if s.value > before.get((s.labels.get("kernel"), s.labels.get("mode")), 0.0)
    }
    expect(bool(ran), f"{name} counted no batch of a request that was answered")
    for kernel, mode in sorted(ran):
        kernels = wanted.get(mode, set())
        expect(
            not kernels or kernel in kernels,
            f"{name}: {mode} ran on {kernel}; the plugin declares {', '.join(sorted(kernels))}: "
            "a fall-back kernel",
        )
