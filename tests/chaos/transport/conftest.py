"""Benches on the shared stack."""

from tests.connectors.kafka.conftest import new_bench

__all__ = ["new_bench"]
