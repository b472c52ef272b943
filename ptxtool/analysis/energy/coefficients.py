"""The energy of one event of each kind: the `[energy]` table of a GPU file."""

from typing import Annotated

import msgspec

PicoJoules = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Watts = Annotated[float, msgspec.Meta(ge=0, le=1e6)]


class Energy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Picojoules of an event, and watts of leakage. `tesla-c2050.toml` defines each event and has the number's source.

    Every key but the watts is the name of a kind of events, and of the part of a run's energy that they make up.
    """

    instruction: PicoJoules
    sp: PicoJoules
    sfu: PicoJoules
    ldst: PicoJoules
    register_read: PicoJoules
    register_write: PicoJoules
    shared: PicoJoules
    l1c: PicoJoules
    l1t: PicoJoules
    l1d: PicoJoules
    l2: PicoJoules
    network: PicoJoules
    dram: PicoJoules
    context: PicoJoules
    pcrf_read: PicoJoules
    pcrf_write: PicoJoules
    pcrf_tag: PicoJoules
    vector: PicoJoules
    sm_watts: Watts
    rest_watts: Watts
