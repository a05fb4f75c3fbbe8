import random
import socket

from connectors.embedded.ports import free_ports


def test_ports_are_free_different_and_below_the_ephemeral_ones() -> None:
    """A client that reconnects to a stopped server can never be given that server's port."""
    ports = free_ports(20, random.Random(1))
    assert len(set(ports)) == 20
    assert max(ports) < 32_768


def test_a_port_in_use_is_passed_over() -> None:
    """The same dice give another port once the first is taken."""
    (taken,) = free_ports(1, random.Random(2))
    with socket.create_server(("127.0.0.1", taken)):
        assert taken not in free_ports(1, random.Random(2))
