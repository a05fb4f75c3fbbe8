"""Calls providers no faster than they allow and not at all while they are down."""
