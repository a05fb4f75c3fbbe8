"""Simulated providers: they speak the real wire formats over real sockets and remember what arrived."""
