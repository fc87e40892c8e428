"""Makes the first inputs of the corpus: one honest example for each target, and what broke others' decoders.

python fuzz/make_corpus.py
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "protocol")]

from fuzz.targets import TARGETS  # noqa: E402
from otto_p2p.net import frames  # noqa: E402
from otto_p2p.net.adverts import Advert, txt_record  # noqa: E402
from otto_protocol.crypto.identity import IdentityKey  # noqa: E402
from otto_protocol.encoding import pack  # noqa: E402
from otto_protocol.hashing import Drbg  # noqa: E402
from otto_protocol.lab import Lab  # noqa: E402
from otto_protocol.lobby.lobby import Lobby  # noqa: E402
from otto_protocol.lobby.record import sign_here  # noqa: E402
from otto_protocol.match import messages as m  # noqa: E402
from otto_protocol.match.transcript import Transcript, dump  # noqa: E402
from otto_protocol.roster import PROTOCOL_VERSION, TableRules  # noqa: E402

CORPUS = ROOT / "fuzz" / "corpus"
NAMES = sorted(TARGETS)

# Reported against other programs: a map that claims 2^32 entries, deep nesting, lengths beyond the end.
HOSTILE = [
    bytes.fromhex("9ffd74f7dd74fffdbd"),
    bytes.fromhex("ddffffffff"),
    b"\x91" * 5_000,
    bytes.fromhex("c6ffffffff"),
    bytes.fromhex("dfffffffff"),
    bytes.fromhex("c9ffffffff00"),
    bytes.fromhex("cb7ff8000000000000"),
    bytes.fromhex("a2ffff"),
    bytes.fromhex("cd0001"),
    bytes.fromhex("81a16101"),
    b"",
]


def examples() -> dict[str, list[bytes]]:
    """Honest inputs by target."""
    lab = Lab(2, Drbg(b"corpus"), TableRules(decks=1))
    while lab.sessions[0].replica.step < 8:
        for session in lab.sessions:
            lab.turn_of(session.seat, lab.at_random)
    items = lab.sessions[0].transcript().items
    said = [m.parse_signed(item) for item in items]
    short = [signed for signed in said if len(signed.content) < 700]
    identity = IdentityKey.generate(Drbg(b"corpus identity"))
    lobby = Lobby(identity, "Ann", bytes(16), rules=TableRules())
    start = lab.start
    advert = Advert(
        key=identity.public,
        nonce=bytes(6),
        name="Ann",
        table=bytes(16),
        title="Ann's table",
        seated=1,
        seats=8,
        pinned=True,
        playing=False,
        port=47701,
    )
    record = b"\0".join(f"{key}={text}".encode() for key, text in txt_record(advert).items())
    return {
        "value": [b"\x93\x01\xc4\x01a\xa1b"],
        "frame": [
            frames.encode_frame(one)
            for one in (
                frames.Beat((frames.Hears(bytes(32), 5),)),
                frames.Sync(bytes(32), 1, 2),
                frames.Peers((frames.PeerHint(bytes(32), ("192.168.1.5:47701",)),)),
                frames.Bye(1),
                frames.LobbyRecord(sign_here(identity, lobby.me)),
            )
        ],
        "message": [m.wire(m.parse_content(signed)) for signed in short],
        "content": [bytes([signed.seat]) + signed.content for signed in short],
        "here": [sign_here(identity, lobby.me)],
        "transcript": [
            dump(Transcript(PROTOCOL_VERSION, start, ())),
            dump(Transcript(PROTOCOL_VERSION, start, items[:4])),
            dump(Transcript(PROTOCOL_VERSION, start, (pack(m.Evidence((said[0], said[1]))),))),
        ],
        "advert": [advert.instance.encode() + b"\0" + record],
    }


def main() -> None:
    """Write the files; those that are there by other names (findings) stay."""
    CORPUS.mkdir(exist_ok=True)
    for name, inputs in examples().items():
        number = NAMES.index(name)
        for place, data in enumerate(inputs):
            (CORPUS / f"{name}-{place:02}").write_bytes(bytes([number]) + data)
        for place, data in enumerate(HOSTILE):
            (CORPUS / f"{name}-hostile-{place:02}").write_bytes(bytes([number]) + data)


if __name__ == "__main__":
    main()
