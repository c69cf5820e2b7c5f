"""The service extension, without SGLang: plain ASGI."""

import asyncio

import pytest

from kunlun_backend import monitoring, service


async def app(scope, receive, send):
    """Refuses what has no key; streams in two pieces."""
    status = 200 if dict(scope["headers"]).get(b"authorization") else 401
    await send({"type": "http.response.start", "status": status, "headers": [(b"a", b"b")]})
    await send({"type": "http.response.body", "body": b"1", "more_body": True})
    await send({"type": "http.response.body", "body": b"2"})


def ask(path="/generate", *headers, kind="http", inner=app):
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": kind, "path": path, "headers": list(headers)}
    asyncio.run(service.Middleware(inner)(scope, None, send))
    return sent


KEY = (b"authorization", b"Bearer K")


def test_every_answer_names_the_backend_and_streams_stay_streams():
    start, *pieces = ask("/generate", KEY)
    assert (service.HEADER.encode(), b"kunlun") in start["headers"]
    assert (b"a", b"b") in start["headers"]
    assert [each["body"] for each in pieces] == [b"1", b"2"]


def test_the_refusal_of_the_key_is_passed_on():
    start, *_ = ask("/generate")
    assert start["status"] == 401
    assert (service.HEADER.encode(), b"kunlun") in start["headers"]


@pytest.mark.parametrize("headers", [(KEY,), (KEY, (b"x-kunlun-token", b"wrong"))])
def test_without_the_tenants_token_it_refuses_with_403(monkeypatch, headers):
    monkeypatch.setenv(service.TOKEN, "T")
    start, *_ = ask("/generate", *headers)
    assert start["status"] == 403
    assert ask("/v1/completions", *headers)[0]["status"] == 403
    assert ask("/health", *headers)[0]["status"] == 200


def test_with_the_token_it_passes_on(monkeypatch):
    monkeypatch.setenv(service.TOKEN, "T")
    assert ask("/generate", KEY, (b"x-kunlun-token", b"T"))[0]["status"] == 200


def test_what_is_not_http_passes_untouched():
    seen = []

    async def inner(scope, receive, send):
        seen.append(send)

    ask(kind="lifespan", inner=inner)
    assert len(seen) == 1


def test_without_sglangs_folder_nothing_is_counted(monkeypatch):
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    monitoring._counter.cache_clear()
    monitoring.count_batch("k", "DECODE")
    monitoring.count_response(200)
    assert (
        monitoring._counter(monitoring.BATCHES, "Batches by attention kernel.", ("kernel", "mode"))
        is None
    )
    monitoring._counter.cache_clear()
