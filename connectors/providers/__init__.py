"""Everything that knows a provider: its wire format, its answers, its credentials."""
