"""Everything that touches a socket or a disk server."""
