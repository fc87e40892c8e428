"""A log told to others: to a peer that lacks something, to a verifier of the whole match, or of one conviction."""

from __future__ import annotations

from otto_protocol.encoding import pack
from otto_protocol.match import messages as m
from otto_protocol.match.log import Log
from otto_protocol.match.view_change import Proposal, proposal_of
from otto_protocol.match.views import Conviction, View


def since(log: Log, number: int, step: int) -> list[bytes]:
    """All that is held from a view and step on, in the order in which a peer that stands there can take it."""
    wanted: list[bytes] = []
    for view in log.views[min(number, len(log.views) - 1) :]:
        stands = range(max(step, view.first), min(log.end_of(view), len(log.steps)))
        wanted += [m.wire(one) for past in stands for one in log.steps[past]]
        wanted += [m.wire(one) for one in view.ballots.all()]  # before what they name, and seal
        for past in sorted(view.places):
            kept = view.places[past]
            wanted += [m.wire(one) for seat in sorted(kept) for one in kept[seat] if past >= step - 1]
    wanted += [m.wire(log.leaves[seat]) for seat in sorted(log.leaves)]
    wanted += [pack(log.convicted[seat].evidence) for seat in sorted(log.convicted)]
    return list(dict.fromkeys(wanted))


def record(log: Log) -> list[bytes]:
    """The log as a transcript has it: what stands of each step, and what opened each view."""
    said: list[bytes] = []
    for view in log.views:
        stands = range(view.first, min(log.end_of(view), len(log.steps)))
        said += [m.wire(one) for step in stands for one in log.steps[step]]
        if view.closed is not None:
            said += _opening(log, view, view.closed)
    for node in log.path[1:]:
        said += [m.wire(one) for one in node.before]
    said += [m.wire(one.message) for one in log.spoken().values()]
    said += [pack(log.convicted[seat].evidence) for seat in sorted(log.accused())]
    return list(dict.fromkeys(said))  # what stands at the end of a view is told once


def evidence_file(log: Log, conviction: Conviction) -> list[bytes]:
    """What convinces a verifier that never saw the match: the log as far as it is needed, and the evidence."""
    said: list[bytes] = []
    if conviction.step is not None:
        for view in log.views[: conviction.view + 1]:
            stands = range(view.first, min(log.end_of(view), len(log.steps), conviction.step))
            said += [m.wire(one) for step in stands for one in log.steps[step]]
            if view.closed is not None and view.number < conviction.view:
                said += _opening(log, view, view.closed)
        for node in log.path[1:] if conviction.view == log.view.number else ():
            if node.replica.step <= conviction.step:
                said += [m.wire(one) for one in node.before]
    return list(dict.fromkeys([*said, pack(conviction.evidence)]))


def _opening(log: Log, view: View, proposal: Proposal) -> list[bytes]:
    """What proves that a view was opened by a proposal: who is excluded, the votes, an entry."""
    named = [log.named(proposal.step, m.Own(seat, content), view) for seat, content in proposal.owns]
    said = [m.wire(one) for one in named if one is not None and one not in log.steps[proposal.step]]
    for seat in sorted(proposal.excluded):
        leave, convicted = log.leaves.get(seat), log.convicted.get(seat)
        if leave is not None:
            said.append(m.wire(leave))
        # If it has left, it may be convicted for a message of a step that a verifier has not come to here.
        if convicted is not None and (leave is None or convicted.step is None):
            said.append(pack(convicted.evidence))
    ballots, enough = view.ballots, len(view.ballots.live - proposal.gone)
    votes: dict[int, list[m.Message]] = {}
    for (seat, number), kept in sorted(ballots.votes.items()):
        if seat not in proposal.gone:
            votes.setdefault(number, []).extend(one for one in kept if proposal_of(one) == proposal)
    agreed = min(number for number, kept in votes.items() if len(kept) == enough)
    entry = min(
        (
            (body.round, seat, one)
            for seat, entries in ballots.entries.items()
            for one in entries
            if isinstance(body := one.body, m.Enter)
            and body.opens == proposal.opens
            and body.round >= agreed
            and seat in [vote.header.seat for vote in votes.get(body.round, ())]
        ),
        key=lambda found: found[:2],
    )
    for number in sorted({agreed, entry[0]}):
        said += [m.wire(vote) for vote in votes[number]]
    return [*said, m.wire(entry[2])]
