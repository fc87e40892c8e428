"""How long a peer waits for what at its table, in one place: tests pass their own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTiming:
    """Seconds, and a few counts where the comment says so."""

    tick: float = 0.25  # between two looks at the clock
    pace: float = 0.02  # after a question a built-in player answers: thinking takes no visible time

    # Before a match
    countdown: float = 5.0  # between "all are ready" and the start
    rest: float = 3.0  # after a match, before a built-in player is ready for another one
    silent: float = 6.0  # an attempt to start ends when a member was not heard for that long
    stuck: float = 20.0  # ... or when it does not come further for that long
    caught: float = 2.0  # ... or that long after a member was convicted: by then all have the evidence

    # Records of the lobby
    publish: float = (
        1.0  # on average between two of our own, and between two looks at those of others in a game
    )
    at_once: int = 5  # of our own that need not wait, before a game: people find each other fast

    # What is missing
    lacking: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0, 5.0)  # between questions; then the last one
    few: int = 2  # how many are asked in the first second, at random: enough to get round a bad link
    soon: float = 1.0  # ... and when that second is over
    flood_age: float = 2.5  # before that a new link has not told yet whom it hears: nothing is relayed to it

    # After a restart nothing is signed before the others have told what they know of this seat
    unsure: float = (
        4.0  # by then those with a link must have answered; without any link, three times that long
    )

    # Going on without somebody
    vote_again: float = 1.0  # between two rounds of ballots
    often: int = 16  # our own ballots in one view, a second apart; the next ones come
    rarely: float = 30.0  # ... that far apart: more rarely than the `Allowance` of the others grows
    consent: int = 2  # that many others must want to go on without somebody before a person's peer hurries
    hurried: float = 5.0  # silence after which somebody may be voted out, if somebody wants to go on
    returning: float = 8.0  # when a cut network is whole again, not all are heard again at the same moment
    indirect: float = 2.0  # a peer without a link that was heard that much later is reached through others

    # The end
    deserted: float = 30.0  # a match that too many have ended is given up when its end has not come by then
    too_few: float = 10.0  # without enough others to decide anything, before the player is told
    linger: float = 3.0  # the longest wait for others to have the end of a match before we leave
    flush: float = 3.0  # the longest wait for the last messages to go out when we leave
