"""The service extension: an ASGI middleware that names the backend, and a check of tokens.

It is pure ASGI: it passes `receive` and `send` on, so that streams stay streams and SGLang learns
when a client hangs up. It stands outside of SGLang's own check of `--api-key`, whose answer (401)
it passes on. With `KUNLUN_TENANT_TOKEN` set, a request for tokens needs that value in the header
`x-kunlun-token`; without it the answer is 403. SGLang's own warm-up request has no such header:
start such a server with `--skip-server-warmup`, or it ends itself.
"""

from __future__ import annotations

import hmac
import os
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from kunlun_backend import BACKEND_NAME, monitoring

HEADER = "x-kunlun-backend"
TOKEN_HEADER = "x-kunlun-token"  # noqa: S105 - the header's name
TOKEN = "KUNLUN_TENANT_TOKEN"  # noqa: S105 - the variable's name
PROTECTED = ("/generate", "/v1/")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class Middleware:
    """Names the backend on every answer, counts it, and holds requests to their token."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one ASGI scope."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (HEADER.encode(), BACKEND_NAME.encode())]
                message["headers"] = headers
                monitoring.count_response(message["status"])
            await send(message)

        if _refused(scope):
            body = b'{"error":"Forbidden"}'
            headers = [(b"content-type", b"application/json")]
            await marked({"type": "http.response.start", "status": 403, "headers": headers})
            await marked({"type": "http.response.body", "body": body})
            return
        await self.app(scope, receive, marked)


def _refused(scope: MutableMapping[str, Any]) -> bool:
    wanted = os.environ.get(TOKEN)
    if not wanted or not str(scope["path"]).startswith(PROTECTED):
        return False
    given = dict(scope["headers"]).get(TOKEN_HEADER.encode(), b"")
    return not hmac.compare_digest(given, wanted.encode())


def install(*_: Any, **__: Any) -> None:
    """Stands before `set_uvicorn_logging_configs`, the last step before SGLang's server listens.

    Whatever SGLang adds to its application is there by then: this middleware stands around it.
    """
    server = sys.modules.get("sglang.srt.entrypoints.http_server")
    if server is not None:
        server.app.add_middleware(Middleware)
