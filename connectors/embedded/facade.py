"""Speaks ClickHouse's HTTP protocol for the engine in this process, to callers who know the password."""

import asyncio
import base64
import hmac
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

from aiohttp import web

from connectors.embedded.clickhouse import USER
from connectors.embedded.engine import Answer, Engine, Refused, Statement

_LARGEST_BODY_BYTES = 1 << 29
_PIECE_BYTES = 1 << 18
# What a client may put in the URL that is about the transport or the session, not a setting of the engine.
_NOT_SETTINGS = {
    *("query", "database", "default_format", "user", "password", "role", "quota_key", "query_id"),
    *("session_id", "session_timeout", "session_check", "close_session", "client_protocol_version"),
    *("compress", "decompress", "enable_http_compression", "buffer_size", "wait_end_of_query", "stacktrace"),
    *("send_progress_in_http_headers", "http_headers_progress_interval_ms"),
    "cancel_http_readonly_queries_on_client_close",
}
_AUTHENTICATION_FAILED = 516
_NOT_IMPLEMENTED = 48


class Facade:
    """Answers each request when its statement has run; statements run one after another.

    Sessions are accepted and have no effect: what a statement sets is gone after it. Answers are never
    compressed: they stay on this machine.
    """

    def __init__(self, open_engine: Callable[[], Engine], password: str) -> None:
        """Open the engine on the one thread that will use it; raises what `open_engine` raises."""
        self._expected = b"Basic " + base64.b64encode(f"{USER}:{password}".encode())
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="clickhouse")
        self._engine = self._worker.submit(open_engine).result()

    def application(self) -> web.Application:
        """Return the web application; closing it closes the engine."""
        app = web.Application(client_max_size=_LARGEST_BODY_BYTES)
        app.router.add_get("/ping", self._ping)
        app.router.add_get("/", self._run)
        app.router.add_post("/", self._run)
        app.on_cleanup.append(self._close)
        return app

    async def _ping(self, _request: web.Request) -> web.Response:
        return web.Response(text="Ok.\n")

    async def _run(self, request: web.Request) -> web.StreamResponse:
        if not hmac.compare_digest(request.headers.get("Authorization", "").encode(), self._expected):
            told = "Authentication failed: the user or the password is not the stack's."
            return _failure(HTTPStatus.UNAUTHORIZED, _AUTHENTICATION_FAILED, told)
        try:
            statement = await _read(request)
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._worker, self._engine.run, statement)
        except Refused as refusal:
            return _failure(HTTPStatus.INTERNAL_SERVER_ERROR, refusal.code, str(refusal))
        return await _send(request, answer)

    async def _close(self, _app: web.Application) -> None:
        await asyncio.get_running_loop().run_in_executor(self._worker, self._engine.close)
        self._worker.shutdown()


async def _read(request: web.Request) -> Statement:
    """Read the statement from the URL, the body or a form, wherever its parts are."""
    asked = dict(request.query)
    if request.content_type != "multipart/form-data":
        return _statement(request, asked, await request.read())
    form = await request.post()
    for name, value in form.items():
        if not isinstance(value, str):
            raise Refused(f"Code: {_NOT_IMPLEMENTED}. DB::Exception: External tables are not supported.")
        asked[name] = value
    return _statement(request, asked, b"")


def _statement(request: web.Request, asked: dict[str, str], body: bytes) -> Statement:
    settings = {n: v for n, v in asked.items() if n not in _NOT_SETTINGS and not n.startswith("param_")}
    if request.method == "GET":  # as ClickHouse has it: a GET changes nothing
        settings["readonly"] = "2"
    query = asked.get("query", "").encode()
    return Statement(
        sql=query or body,
        rows=body if query else b"",
        # The web server has undone every other encoding that a client may choose.
        is_lz4=request.headers.get("Content-Encoding") == "lz4",
        database=asked.get("database", ""),
        settings=settings,
        parameters={n.removeprefix("param_"): v for n, v in asked.items() if n.startswith("param_")},
        default_format=asked.get("default_format", ""),
    )


async def _send(request: web.Request, answer: Answer) -> web.StreamResponse:
    """Send an answer piece by piece, so that a large one does not hold up other requests."""
    summary = {"read_rows": str(answer.rows_read), "written_rows": str(answer.rows_written)}
    headers = {"X-ClickHouse-Timezone": "UTC", "X-ClickHouse-Summary": json.dumps(summary)}
    if answer.format is not None:
        headers["X-ClickHouse-Format"] = answer.format
    response = web.StreamResponse(headers=headers)
    response.content_length = len(answer.body)
    await response.prepare(request)
    for start in range(0, len(answer.body), _PIECE_BYTES):
        await response.write(bytes(answer.body[start : start + _PIECE_BYTES]))
    await response.write_eof()
    return response


def _failure(status: int, code: int, message: str) -> web.Response:
    text = message if message.startswith("Code: ") else f"Code: {code}. DB::Exception: {message}"
    headers = {"X-ClickHouse-Exception-Code": str(code)}
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Basic realm="harkara"'
    return web.Response(status=status, text=text, headers=headers)
