"""How records become bytes: JSON on topics, msgpack in changelogs. One encoder and decoder each."""

from typing import Any

import msgspec

from streams.records.control import Control
from streams.records.dead_letter import DeadLetter
from streams.records.delivery import Delivery
from streams.records.delivery_event import DeliveryEvent
from streams.records.followup import Followup
from streams.records.profile_command import ProfileCommand
from streams.records.rejection import Rejection
from streams.records.state import Admission, Claim, Profile, Reservations, Row, Stops, Waiting
from streams.records.stop import Stop

#: Any record of a topic -> compact JSON.
to_json = msgspec.json.Encoder().encode
#: Any document of state -> msgpack.
to_state = msgspec.msgpack.Encoder().encode

read_delivery = msgspec.json.Decoder(Delivery).decode
read_followup = msgspec.json.Decoder(Followup).decode
read_delivery_event = msgspec.json.Decoder(DeliveryEvent).decode
read_profile_command = msgspec.json.Decoder(ProfileCommand).decode
read_stop = msgspec.json.Decoder(Stop).decode
read_control = msgspec.json.Decoder(Control).decode
read_rejection = msgspec.json.Decoder(Rejection).decode
read_dead_letter = msgspec.json.Decoder(DeadLetter).decode

state_profile = msgspec.msgpack.Decoder(Profile).decode
state_reservations = msgspec.msgpack.Decoder(Reservations).decode
state_admission = msgspec.msgpack.Decoder(Admission).decode
state_waiting = msgspec.msgpack.Decoder(Waiting).decode
state_row = msgspec.msgpack.Decoder(Row).decode
state_claim = msgspec.msgpack.Decoder(Claim).decode
state_stops = msgspec.msgpack.Decoder(Stops).decode


def pointer_of(error: msgspec.ValidationError) -> str:
    """Return the JSON pointer of the place msgspec's message names (`$.data.x[3]`)."""
    text = str(error)
    _, _, path = text.rpartition(" - at `")
    if not path.startswith("$"):
        return ""
    return path.rstrip("`")[1:].replace("[", "/").replace("]", "").replace(".", "/")


def as_plain(value: Any) -> Any:
    """Return a record as plain dicts and lists, for tables and `--json`."""
    return msgspec.to_builtins(value)
