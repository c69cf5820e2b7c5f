"""A client of SGLang's HTTP server: requests for tokens, streamed or not, and whatever else.

It stands on :mod:`http.client`, reads no proxy settings, and bounds every wait: a server that dies
gives :class:`ServerGoneError`, one that stays silent :class:`ServerSilentError`. Any thread may
ask; each request has a connection of its own.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sglang_contracts.errors import ContractsError


class ServingError(Exception):
    """The server did not answer as a server does."""


class ServerGoneError(ServingError):
    """The connection was refused or broke: the server ended, or closed it."""


class ServerSilentError(ServingError):
    """Nothing came for as long as a request may take."""


class ServerRefusedError(ServingError):
    """A status that says no.

    Args:
        what: The request.
        reply: What came.
    """

    def __init__(self, what: str, reply: Reply) -> None:
        super().__init__(f"{what}: status {reply.status}: {reply.excerpt()}")
        self.status = reply.status
        self.reply = reply


@dataclass(frozen=True)
class Reply:
    """An answer to any request.

    Attributes:
        status: HTTP status.
        headers: By lower-case name.
        body: All of it.
        seconds: From the request to the last byte.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            ServingError: It is none.
        """
        try:
            return json.loads(self.body)
        except ValueError:
            raise ServingError(f"the body is no JSON: {self.excerpt()}") from None

    def excerpt(self) -> str:
        """The beginning of the body, for a message."""
        text = self.body[:300].decode("utf-8", "replace").strip()
        return text or "an empty body"


@dataclass(frozen=True)
class Prompt:
    """What is asked for.

    Attributes:
        ids: Token ids; empty: ``text`` is given.
        text: Text, where there are no ids.
        new_tokens: How many tokens are wanted (greedy, the end token is ignored).
        logprobs: Whether log-probabilities of the answer are wanted.
        prompt_logprobs: Those of the prompt as well.
        top: How many of the likeliest tokens are wanted at each place of the answer.
        rid: Name of the request; empty: the server gives one.
    """

    ids: tuple[int, ...] = ()
    text: str = ""
    new_tokens: int = 8
    logprobs: bool = True
    prompt_logprobs: bool = False
    top: int = 0
    rid: str = ""

    def body(self, stream: bool = False) -> dict[str, Any]:
        """The body of ``POST /generate``."""
        sampling = {"temperature": 0, "max_new_tokens": self.new_tokens, "ignore_eos": True}
        found: dict[str, Any] = {"sampling_params": sampling, "stream": stream}
        found |= {"input_ids": list(self.ids)} if self.ids else {"text": self.text}
        if self.logprobs or self.prompt_logprobs:
            found["return_logprob"] = True
        if self.prompt_logprobs:
            found["logprob_start_len"] = 0
        if self.top:
            found["top_logprobs_num"] = self.top
        if self.rid:
            found["rid"] = self.rid
        return found


@dataclass(frozen=True)
class Answer:
    """What a request got.

    Attributes:
        ids: The generated tokens.
        logprobs: Of each, where they were asked for.
        text: The generated text.
        prompt_ids: The prompt's tokens, where its log-probabilities were asked for.
        prompt_logprobs: Of each but the first.
        prompt_tokens: How many tokens the prompt had.
        cached: How many of them were taken from the prefix cache.
        rid: Name of the request.
        finish: Why it ended: ``length``, ``stop``, ``abort``; empty where that is not said.
        seconds: From the request to the last byte.
        first: From the request to the first token; of a stream only.
        gaps: Between the further pieces of a stream.
        top: Token and log-probability of the likeliest, at each place.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...] = ()
    text: str = ""
    prompt_ids: tuple[int, ...] = ()
    prompt_logprobs: tuple[float, ...] = ()
    prompt_tokens: int = 0
    cached: int = 0
    rid: str = ""
    finish: str = ""
    seconds: float = 0.0
    first: float = 0.0
    gaps: tuple[float, ...] = ()
    top: tuple[tuple[tuple[int, float], ...], ...] = ()


@dataclass
class Client:
    """Asks one server.

    Attributes:
        url: Such as ``http://127.0.0.1:30000``.
        key: The API key; empty: none.
        headers: Sent with each request.
        timeout: Seconds that a request may take.
    """

    url: str
    key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 300.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ContractsError(
                f"'{self.url}' is no URL of a server", "write --url http://127.0.0.1:30000"
            )
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        try:
            self._port = parts.port or (443 if self._secure else 80)
        except ValueError:
            raise ContractsError(f"'{self.url}' has no such port") from None
        self._prefix = parts.path.rstrip("/")

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=timeout, context=context
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Any,
        headers: Mapping[str, str] | None,
    ) -> http.client.HTTPResponse:
        sent = dict(self.headers) if headers is None else dict(headers)
        if headers is None and self.key:
            sent["Authorization"] = f"Bearer {self.key}"
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection.request(method, self._prefix + path, body=data, headers=sent)
        return connection.getresponse()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Reply:
        """Send a request and read all of its answer.

        Args:
            method: ``GET``, ``POST``.
            path: Below the URL.
            body: Sent as JSON; bytes as they are; None: no body.
            headers: Instead of the client's own and its key.
            timeout: Instead of the client's own.

        Raises:
            ServerGoneError: The connection was refused or broke.
            ServerSilentError: It took too long.
        """
        limit = self.timeout if timeout is None else timeout
        begin = time.perf_counter()
        connection = self._connect(limit)
        try:
            response = self._send(connection, method, path, body, headers)
            parts = []
            while block := response.read(1 << 16):
                parts.append(block)
                if time.perf_counter() - begin > limit:
                    raise TimeoutError
            if response.length:  # what its header has promised
                raise ConnectionResetError(f"the answer broke off, {response.length} bytes short")
            found = {name.lower(): value for name, value in response.getheaders()}
            taken = time.perf_counter() - begin
            return Reply(response.status, found, b"".join(parts), taken)
        except TimeoutError:
            raise ServerSilentError(f"{method} {path}: no answer within {limit:.0f} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise ServerGoneError(f"{method} {path}: {_said(error)}") from None
        finally:
            connection.close()

    def get(self, path: str, timeout: float | None = None) -> Any:
        """The JSON behind a path.

        Raises:
            ServingError: There is none.
        """
        reply = self.request("GET", path, timeout=timeout)
        if reply.status != 200:
            raise ServerRefusedError(f"GET {path}", reply)
        return reply.json()

    def generate(self, prompt: Prompt, timeout: float | None = None) -> Answer:
        """Ask for tokens and wait for all of them.

        Raises:
            ServingError: None came.
        """
        reply = self.request("POST", "/generate", prompt.body(), timeout=timeout)
        if reply.status != 200:
            raise ServerRefusedError("POST /generate", reply)
        return _answer(reply.json(), seconds=reply.seconds)

    def stream(self, prompt: Prompt, timeout: float | None = None) -> Answer:
        """Ask for tokens and read them as they come.

        Raises:
            ServingError: None came, or not all of them.
        """
        begin = last = time.perf_counter()
        first, gaps, found = 0.0, list[float](), None
        for piece in self.pieces(prompt, timeout):
            found = piece
            now = time.perf_counter()
            if first:
                gaps.append(now - last)
            else:
                first = now - begin
            last = now
        if found is None:
            raise ServerGoneError("POST /generate: the stream ended without a token")
        if not found.get("meta_info", {}).get("finish_reason"):
            raise ServerGoneError("POST /generate: the stream broke off")
        return _answer(found, seconds=last - begin, first=first, gaps=tuple(gaps))

    def pieces(self, prompt: Prompt, timeout: float | None = None) -> Generator[Any, None, None]:
        """The pieces of a streamed answer; who stops reading hangs up.

        Raises:
            ServingError: It is refused, breaks or takes too long.
        """
        limit = self.timeout if timeout is None else timeout
        begin = time.perf_counter()
        connection = self._connect(limit)
        try:
            response = self._send(connection, "POST", "/generate", prompt.body(stream=True), None)
            if response.status != 200:
                body = response.read(1 << 16)
                raise ServerRefusedError("POST /generate", Reply(response.status, {}, body, 0.0))
            while line := response.readline(1 << 24):
                if time.perf_counter() - begin > limit:
                    raise TimeoutError
                text = line.strip()
                if not text.startswith(b"data:"):
                    continue
                data = text[5:].strip()
                if data == b"[DONE]":
                    return
                piece = json.loads(data)
                if "error" in piece:
                    raise ServingError(f"POST /generate: {str(piece['error'])[:300]}")
                yield piece
            raise ServerGoneError("POST /generate: the stream broke off")
        except TimeoutError:
            raise ServerSilentError(f"POST /generate: no end within {limit:.0f} s") from None
        except ValueError:
            raise ServingError("POST /generate: a piece of the stream is no JSON") from None
        except (OSError, http.client.HTTPException) as error:
            raise ServerGoneError(f"POST /generate: {_said(error)}") from None
        finally:
            connection.close()


def _said(error: BaseException) -> str:
    """What an error of the connection says, without Python's numbers."""
    text = getattr(error, "strerror", "") or str(error) or type(error).__name__
    return str(text)[:200]


def _answer(found: Any, **times: Any) -> Answer:
    """An answer as SGLang writes it; the releases agree on what is read here."""
    try:
        info = found["meta_info"]
        output = [entry for entry in info.get("output_token_logprobs") or () if entry]
        given = [entry for entry in info.get("input_token_logprobs") or () if entry]
        ids = found.get("output_ids") or [entry[1] for entry in output]
        reason = info.get("finish_reason") or {}
        top = info.get("output_top_logprobs") or ()
        return Answer(
            ids=tuple(int(each) for each in ids),
            logprobs=tuple(float(entry[0]) for entry in output),
            text=str(found.get("text") or ""),
            prompt_ids=tuple(int(entry[1]) for entry in given),
            prompt_logprobs=tuple(float(e[0]) for e in given if e[0] is not None),
            prompt_tokens=int(info.get("prompt_tokens") or 0),
            cached=int(info.get("cached_tokens") or 0),
            rid=str(info.get("id") or ""),
            finish=str(reason.get("type") or "") if isinstance(reason, dict) else str(reason),
            top=tuple(tuple((int(e[1]), float(e[0])) for e in place or ()) for place in top),
            **times,
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise ServingError(
            "POST /generate: the answer is not in the form that SGLang gives"
        ) from None


def texts(prompts: Sequence[Prompt]) -> list[str]:
    """How messages name prompts: their length and how they begin."""
    return [
        f"{len(each.ids)} tokens from {list(each.ids[:4])}" if each.ids else repr(each.text[:40])
        for each in prompts
    ]
