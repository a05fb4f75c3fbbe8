"""The router: decides once per source record, and again for whatever comes back or falls due.

`admission` (ingest), `learning` (profiles), `returning` (followups), `firing` (the schedule);
`carrying` turns decisions into writes for all of them.
"""

from agents.router.router import Router, RouterSettings

__all__ = ["Router", "RouterSettings"]
