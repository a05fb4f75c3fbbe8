"""Chooses loopback ports for servers."""

import random
import socket

# Below the ports that Linux (32768) and macOS (49152) give to outgoing connections: while a server
# on such a port is down, a client that reconnects in a loop can be given the very port it calls, is
# then connected to itself, and the server can never listen there again.
_FIRST, _LAST = 20_000, 31_999
_TRIES = 200


def free_ports(count: int, dice: random.Random) -> tuple[int, ...]:
    """Return `count` different loopback TCP ports that nobody listens on.

    Nothing reserves them: start the server at once. Raises OSError when 200 draws do not suffice.
    """
    found: list[int] = []
    for _ in range(_TRIES):
        port = dice.randint(_FIRST, _LAST)
        if port not in found and _is_free(port):
            found.append(port)
        if len(found) == count:
            return tuple(found)
    raise OSError(f"no {count} free loopback ports between {_FIRST} and {_LAST}")


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a port whose last connections are merely in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
