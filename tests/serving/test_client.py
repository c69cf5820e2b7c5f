"""The client bounds every wait and says what came instead of an answer."""

import socket
import threading

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.serving.client import (
    Client,
    Prompt,
    ServerGoneError,
    ServerRefusedError,
    ServerSilentError,
    ServingError,
)

PROMPT = Prompt((5, 6, 7), new_tokens=4)


@pytest.fixture
def raw():
    """A server that sends these bytes to each connection, and then closes it or stays silent."""
    sockets = []

    def start(data, close=True):
        listening = socket.create_server(("127.0.0.1", 0))
        sockets.append(listening)

        def serve():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                sockets.append(connection)
                connection.recv(1 << 16)
                connection.sendall(data)
                if close:
                    connection.shutdown(socket.SHUT_RDWR)
                    connection.close()

        threading.Thread(target=serve, daemon=True).start()
        return Client(f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=20)

    yield start
    for each in sockets:
        each.close()


def test_an_answer_has_tokens_their_logprobs_and_what_was_cached(open_session):
    client = open_session().client
    answer = client.generate(Prompt(tuple(range(3, 12)), new_tokens=3, prompt_logprobs=True))
    assert len(answer.ids) == len(answer.logprobs) == 3
    assert answer.prompt_ids == tuple(range(3, 12))
    assert len(answer.prompt_logprobs) == 8
    assert client.generate(Prompt(tuple(range(3, 12)))).cached == 8


def test_a_stream_is_the_same_answer_in_pieces(open_session):
    client = open_session().client
    whole, stream = client.generate(PROMPT), client.stream(PROMPT)
    assert stream.ids == whole.ids
    assert len(stream.gaps) == 3
    assert stream.first > 0


def test_where_nobody_listens_is_said():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ServerGoneError, match="GET /health: Connection refused"):
        Client(f"http://127.0.0.1:{port}").request("GET", "/health")


def test_a_refusal_carries_its_status_and_the_beginning_of_its_body(open_session):
    client = open_session().client
    client.key = "wrong"
    with pytest.raises(ServerRefusedError, match=r"status 401: .*Unauthorized") as caught:
        client.generate(PROMPT)
    assert caught.value.status == 401


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"])
def test_a_connection_that_breaks_is_no_answer(raw, data):
    with pytest.raises(ServerGoneError):
        raw(data).generate(PROMPT)


def test_a_stream_that_breaks_off_is_no_answer(raw):
    piece = b'data: {"text": "", "output_ids": [3], "meta_info": {"finish_reason": null}}\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    with pytest.raises(ServerGoneError, match="broke off"):
        raw(head + piece).stream(PROMPT)
    with pytest.raises(ServerGoneError, match="broke off"):
        raw(head + piece + b"data: [DONE]\n\n").stream(PROMPT)
    with pytest.raises(ServingError, match="no JSON"):
        raw(head + b"data: {\n\n").stream(PROMPT)
    with pytest.raises(ServingError, match="out of memory"):
        raw(head + b'data: {"error": {"message": "out of memory"}}\n\n').stream(PROMPT)


def test_silence_has_an_end(raw):
    client = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", close=False)
    client.timeout = 0.05
    with pytest.raises(ServerSilentError, match="no answer within"):
        client.generate(PROMPT)
    with pytest.raises(ServerSilentError, match="no end within"):
        client.stream(PROMPT)


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b'{"meta_info": 5}', b'{"meta_info": {"output_token_logprobs": [5]}}']
)
def test_what_is_no_answer_of_sglang_is_said(raw, body):
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with pytest.raises(ServingError, match=r"no JSON|not in the form"):
        raw(head + body).generate(PROMPT)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:1", "ftp://h", "http://", "http://h:x", "http://h:99999"]
)
def test_what_is_no_url_is_an_error_of_the_command(url):
    with pytest.raises(ContractsError):
        Client(url)


def test_proxies_of_the_environment_are_not_used(open_session, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert open_session().client.request("GET", "/health").status == 200
