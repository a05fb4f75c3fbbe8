"""One keep-alive session to one provider; what the network does comes back as a value.

The phase rule: a failure before a connection stands is `Unavailable`, because nothing can have
been processed. From then on the request may have left, so every failure without an answer is
`Unknown`. Nothing is sent a second time here: aiohttp repeats only idempotent methods.
"""

from dataclasses import dataclass

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorDNSError,
    ClientConnectorError,
    ClientError,
    ClientResponseError,
    ClientSession,
    ClientTimeout,
    ConnectionTimeoutError,
    DummyCookieJar,
    TCPConnector,
)
from msgspec import Struct
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from streams.outcomes import Misconfigured, Unavailable, Unknown

Headers = CIMultiDict[str]
Fault = Unavailable | Unknown | Misconfigured

# A provider that closes an idle connection in the moment we use it costs an `Unknown`, so an
# idle one is given up long before any provider does (theirs live for minutes).
_KEEP_ALIVE_SECONDS = 15.0


@dataclass(frozen=True)
class HttpSettings:
    """How one provider is called."""

    connections: int = 256  # most sockets at once; a further call waits for one up to `connect_ms`
    connect_ms: int = 5_000  # name, connection and TLS together
    answer_ms: int = 10_000  # longest silence after the request left; FCM asks for at least 10 s


DEFAULT_HTTP = HttpSettings()


class Answer(Struct, frozen=True, gc=False):
    """A whole HTTP answer, whatever its status."""

    status: int
    headers: CIMultiDictProxy[str]
    body: bytes


class HttpClient:
    """Posts to one provider over at most `connections` sockets that it keeps."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._session: ClientSession | None = None

    async def post(self, url: URL, headers: Headers, body: bytes) -> Answer | Fault:
        """Make one call; `headers` are shared between calls and never changed. Does not raise."""
        session = self._session or self._open()
        try:
            async with session.post(url, data=body, headers=headers, allow_redirects=False) as response:
                return Answer(response.status, response.headers, await response.read())
        except ClientConnectorCertificateError:
            return Misconfigured("account", "TLS_CERTIFICATE")
        except ClientConnectorDNSError:
            return Unavailable("DNS")
        except ClientConnectorError:
            return Unavailable("CONNECT")
        except ConnectionTimeoutError:
            return Unavailable("CONNECT_TIMEOUT")
        except TimeoutError:
            return Unknown("TIMEOUT")
        except ClientResponseError:
            return Unknown("NOT_HTTP")
        except (ClientError, OSError):
            return Unknown("CONNECTION_LOST")

    async def close(self) -> None:
        """Close every connection; a later call opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> ClientSession:
        """Open the session inside the running loop, at the first call."""
        connect, answer = self._settings.connect_ms / 1000, self._settings.answer_ms / 1000
        self._session = ClientSession(
            connector=TCPConnector(
                limit=self._settings.connections,
                keepalive_timeout=_KEEP_ALIVE_SECONDS,
                ttl_dns_cache=60,
            ),
            timeout=ClientTimeout(
                total=connect + 2 * answer,  # an answer that trickles in ends too
                connect=connect,
                sock_connect=connect,
                sock_read=answer,
            ),
            headers={"User-Agent": "harkara", "Accept-Encoding": "identity"},
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
            raise_for_status=False,
            trust_env=False,
        )
        return self._session
