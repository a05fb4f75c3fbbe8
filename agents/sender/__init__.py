"""The sender: one class, configured per channel and lane.

`sender` (blocks and order per user), `attempt` (one delivery through stop, lease, claim and call),
`bursts` (many deliveries' rows in one write), `verdict` (what is written about an attempt).
"""

from agents.sender.sender import Sender, SenderSettings

__all__ = ["Sender", "SenderSettings"]
