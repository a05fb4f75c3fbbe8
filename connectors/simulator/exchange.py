"""One call from its arrival to its answer: read it, judge it, remember it, answer it."""

import asyncio
import socket
import struct
from collections import Counter
from typing import assert_never

import xxhash
from aiohttp import web

from connectors.simulator.entry import Entry
from connectors.simulator.judge import Judge
from connectors.simulator.ledger import Ledger
from connectors.simulator.oauth import OAuth
from connectors.simulator.script import Hang, Quota, Refusal, Refuse, Reset
from connectors.simulator.wire import Arrival, Reply, Wire
from streams.clock import Clock

SIMULATED = {"X-Harkara-Simulated": "1"}


class Exchange:
    """The simulated providers' counter: every call is in the ledger before it is answered."""

    def __init__(self, judge: Judge, ledger: Ledger, oauth: OAuth, clock: Clock) -> None:
        self._judge = judge
        self._ledger = ledger
        self._oauth = oauth
        self._clock = clock
        self.answers: dict[str, Counter[str]] = {}

    async def call(self, wire: Wire, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one call to a provider, as its script says."""
        body = await request.read()
        now_ms = self._clock.now_ms()
        arrival = wire.read(request.raw_path, request.headers, body, now_ms)
        if isinstance(arrival, Reply):
            self._count(wire.name, arrival.label)
            return response(arrival)
        verdict = self._judge.verdict(wire.name, arrival.address)
        fault = verdict.fault
        wait: str | None = None
        match fault:
            case None:
                reply = self._store(wire, arrival, now_ms, request, None)
            case Quota():
                reply = wire.refuse(fault)
                self._store(wire, arrival, now_ms, request, reply.label)
                wait = str(-(-verdict.wait_ms // 1000))
            case Refusal():
                reply = _worded(wire, fault)
                self._store(wire, arrival, now_ms, request, reply.label, fault.accepted)
                wait = None if fault.retry_after is None else str(fault.retry_after)
            case Reset() | Hang() | Refuse():
                accepted = not isinstance(fault, Refuse) and fault.accepted
                label = "hang" if isinstance(fault, Hang) else "reset"
                self._store(wire, arrival, now_ms, request, label, accepted)
                silent_ms = verdict.delay_ms + (fault.ms if isinstance(fault, Hang) else 0)
                await asyncio.sleep(silent_ms / 1000)
                return sever(request)
            case _:
                assert_never(fault)
        if verdict.delay_ms:
            await asyncio.sleep(verdict.delay_ms / 1000)
        return response(reply, wait)

    async def grant(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one call for an access token, as the script's rules for "oauth" say."""
        body = await request.read()
        verdict = self._judge.verdict("oauth", "")
        fault = verdict.fault
        if verdict.delay_ms:
            await asyncio.sleep(verdict.delay_ms / 1000)
        wait: str | None = None
        match fault:
            case None:
                reply = self._oauth.grant(body, self._clock.now_ms(), self._judge.script.token_seconds)
            case Quota() | Refusal():
                reply = self._oauth.refuse(fault)
                if isinstance(fault, Refusal) and fault.retry_after is not None:
                    wait = str(fault.retry_after)
            case Reset() | Hang() | Refuse():
                await asyncio.sleep(fault.ms / 1000 if isinstance(fault, Hang) else 0)
                self._count("oauth", "reset")
                return sever(request)
            case _:
                assert_never(fault)
        self._count("oauth", reply.label)
        return response(reply, wait)

    def _store(
        self,
        wire: Wire,
        arrival: Arrival,
        now_ms: int,
        request: web.BaseRequest,
        refused_as: str | None,
        accepted: bool = False,
    ) -> Reply:
        """Write the ledger's entry, and return the answer of an acceptance (used when it is one)."""
        accepted = accepted or refused_as is None
        message_id = wire.message_id(now_ms, len(self._ledger)) if accepted else ""
        reply = wire.accept(arrival, message_id)
        label = refused_as or reply.label
        self._ledger.add(
            Entry(
                seq=0,
                provider=wire.name,
                address=arrival.address,
                delivery_id=arrival.delivery_id,
                arrival=0,
                attempt_key=request.headers.get("Idempotency-Key", ""),
                at_ms=now_ms,
                accepted=accepted,
                answer=label,
                message_id=message_id,
                text_hash=xxhash.xxh3_64_hexdigest(arrival.text.encode()),
                text=arrival.text,
            )
        )
        self._count(wire.name, label)
        return reply

    def _count(self, provider: str, label: str) -> None:
        self.answers.setdefault(provider, Counter())[label] += 1


def response(reply: Reply, retry_after: str | None = None) -> web.Response:
    """Return the answer as HTTP, marked as simulated."""
    headers = {"Content-Type": reply.content_type, **SIMULATED}
    if retry_after is not None:
        headers["Retry-After"] = retry_after
    return web.Response(status=reply.status, body=reply.body, headers=headers)


def sever(request: web.BaseRequest) -> web.Response:
    """Break the connection with a reset, so that the caller never gets an answer."""
    if (transport := request.transport) is not None:
        peer = transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return web.Response(status=500)  # goes nowhere


def _worded(wire: Wire, fault: Refusal) -> Reply:
    """Return the provider's own error, or exactly what the script wants said."""
    reply = wire.refuse(fault)
    if fault.body is None:
        return reply
    status = fault.status or reply.status
    return Reply(status, fault.body.encode(), f"{status} {fault.code or 'scripted'}", "text/html")
