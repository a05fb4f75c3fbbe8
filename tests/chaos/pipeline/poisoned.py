"""`harkara` with one rule more, which breaks on events that are marked for it: a release with a fault."""

from harkara.cli import main
from streams.policy import chain
from streams.policy.context import Context
from streams.policy.verdict import Verdict

MARK = "poison"


def broken(context: Context) -> Verdict:
    """Break on what is marked."""
    if context.notification_id.startswith(MARK):
        raise ZeroDivisionError(context.notification_id)
    return None


if __name__ == "__main__":
    chain.RULES = (broken, *chain.RULES)
    main()
