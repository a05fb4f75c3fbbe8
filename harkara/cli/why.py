"""`harkara why`: what became of one message, and why it was not sent, or not yet."""

import click

from connectors.kafka.scan import Scan
from harkara.cli.options import json_option, with_settings
from harkara.cli.output import print_json, print_table
from harkara.embedded.running import running_stack
from harkara.keys import hash_key
from harkara.questions.asked import Asked
from harkara.questions.asking import answering
from harkara.questions.moments import shown
from harkara.questions.story import Answer, Coordinates, DeliveryStory
from harkara.questions.why import Why
from harkara.settings import Settings

_VERDICTS = {
    "rejected": "The event was refused, so nothing was sent.",
    "dead_letter": "The record could not be processed and was put aside whole.",
    "duplicate": "The event came again; its first copy is too old to be told of.",
    "undecided": "The event has arrived; no router has decided it yet.",
    "lost": "The event has arrived and nothing is known of it. This must not happen: run `harkara audit`.",
    "never_received": "Nothing of it ever arrived: it is in no topic and in no table.",
}


@click.command(name="why")
@click.argument("id", required=False)
@click.option("--user", help="All of a user's messages, the last ones first.")
@click.option("--key", help="The event with this idempotency key.")
@click.option("--tenant", default="default", show_default=True, help="Tenant of the key.")
@click.option("--last", default=20, show_default=True, help="Most notifications of a user.")
@json_option
@with_settings
def command(
    settings: Settings,
    id: str | None,  # the word that help shows
    user: str | None,
    key: str | None,
    tenant: str,
    last: int,
    as_json: bool,
) -> None:
    """Tell what is known of a notification or delivery ID, of a user, or of an idempotency key.

    Every decision and attempt with its reason; what was refused, came again, waits, is queued, is
    not decided yet, or never arrived.
    """
    if sum(one is not None for one in (id, user, key)) != 1:
        raise click.UsageError("give one of ID, --user, --key")
    asked = _asked(id, user, key, tenant)
    with running_stack(settings) as addresses, answering(addresses.clickhouse) as client:
        answer = Why(client, Scan(addresses.kafka), hash_key(settings)).of(asked, last)
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def _asked(one: str | None, user: str | None, key: str | None, tenant: str) -> Asked:
    if one is not None:
        return Asked.by_id(one)
    return Asked.by_user(user) if user is not None else Asked.by_key(tenant, key or "")


def _print(answer: Answer) -> None:
    if answer.verdict in _VERDICTS:
        click.echo(_VERDICTS[answer.verdict])
    elif not answer.deliveries:
        click.echo("The event was admitted, and no channel of its type applied.")
    for story in answer.deliveries:
        _print_story(story)
    if answer.rejected:
        rows = [
            [
                shown(r.at_ms),
                r.reason,
                r.pointer or "-",
                r.detail or "-",
                r.notification_id or "-",
                _place(r.source),
            ]
            for r in answer.rejected
        ]
        print_table(
            "Refused events", ("at (UTC)", "reason", "place", "detail", "notification", "record"), rows
        )
    if answer.dead_letters:
        rows = [
            [shown(one.at_ms), one.reason, one.error or "-", one.role, _place(one.source)]
            for one in answer.dead_letters
        ]
        print_table("Dead letters", ("at (UTC)", "reason", "error", "by", "record"), rows)
    if answer.duplicates:
        rows = [[shown(r.at_ms), r.notification_id, _place(r.source)] for r in answer.duplicates]
        print_table("Came again, no second message", ("at (UTC)", "notification", "record"), rows)
    for title, places in (("Not decided yet", answer.undecided), ("Unexplained", answer.unexplained)):
        if places:
            print_table(title, ("record",), [[_place(place)] for place in places])


def _print_story(story: DeliveryStory) -> None:
    click.echo(f"\n{story.type} by {story.channel}, {story.lane}: {story.sentence}")
    click.echo(f"  delivery {story.delivery_id}, notification {story.notification_id}, tenant {story.tenant}")
    rows = [
        [
            *(shown(fact.at_ms), str(fact.status), fact.attempt or None, fact.provider or "-"),
            *(fact.reason or "-", fact.rule or "-", fact.error_code or "-", shown(fact.until_ms)),
            fact.latency_ms or None,
        ]
        for fact in story.facts
    ]
    columns = (
        "at (UTC)",
        "status",
        "attempt",
        "provider",
        "reason",
        "rule",
        "code",
        "until (UTC)",
        "call ms",
    )
    print_table("", columns, rows)


def _place(source: Coordinates) -> str:
    return f"{source.topic}/{source.partition}/{source.offset}"
