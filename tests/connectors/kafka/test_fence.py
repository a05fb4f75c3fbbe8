"""A worker the group has not heard of lately leaves before it writes."""

import subprocess
import sys

from connectors.kafka.fence import Fence, boot_seconds


def test_age_counts_from_when_the_heartbeat_was_sent() -> None:
    """An answer that comes late does not make the heartbeat younger."""
    fence = Fence(6.0)
    fence.renew(boot_seconds() - 2.0)
    assert 2.0 <= fence.age_s < 3.0
    fence.check()


def test_an_older_heartbeat_changes_nothing() -> None:
    """Answers may overtake each other."""
    fence = Fence(6.0)
    fence.renew(boot_seconds())
    fence.renew(boot_seconds() - 100.0)
    assert fence.age_s < 1.0


def test_before_the_first_join_nothing_is_owned() -> None:
    """There is nothing to lose yet, so nothing is refused."""
    fence = Fence(6.0)
    assert fence.age_s == 0.0
    fence.check()


def test_half_a_session_without_a_heartbeat_ends_the_process() -> None:
    """The exit code tells a supervisor that ownership was lost."""
    program = (
        "from connectors.kafka.fence import Fence, boot_seconds\n"
        "fence = Fence(6.0)\n"
        "fence.renew(boot_seconds() - 3.1)\n"
        "fence.check()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 70
    assert ended.stderr.startswith("leaving: LostOwnership: last heartbeat is 3.")
