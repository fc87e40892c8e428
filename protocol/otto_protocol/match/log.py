"""All signed messages of one match that one peer holds, and what follows from them: where it stands, who is convicted.

The theory, in short (docs/protocol.md, "The log", has it with proofs):

* Every live seat signs one message in every step of a view, on the digest of all before it. So whoever has
  completed a step knows that all honest seats have completed the one before with the same contents: honest
  peers stand in the same step or in neighbouring ones, and only the last complete step can differ between them.
* A step is *settled* when the messages of the next step, of all live seats that are not convicted, name one
  digest after it. A complete step settles the one before.
* The *position* is the first step that is not complete. A step is complete when each live seat has exactly one
  content there, valid on its digest; if a seat has two, only a settled step is complete, with the content that was
  settled. So the position goes back by one step when somebody is seen to have signed twice, and never further.
* A seat is *convicted* by two messages that contradict each other, or by one that breaks a rule on any digest that
  can be derived from what is held. Where one stands plays no part in it.

All of this is a function of the set of messages, not of the order in which they came; what is cached here (`_known`,
`_verdicts`, `path`) can be made again from the set. `Session` adds a seat's secrets and says something; `audit`
reads a transcript through the same code.
"""

from __future__ import annotations

import copy
import itertools
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Self

from otto_protocol.encoding import pack
from otto_protocol.errors import DecodeError, PeerFault
from otto_protocol.hashing import Rng
from otto_protocol.match import messages as m
from otto_protocol.match.contradictions import contradiction, fault_alone
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica, Spoken, StepFaults
from otto_protocol.match.view_change import Ballots, Count, Proposal
from otto_protocol.match.views import Change, Completed, Conviction, Node, Opened, Place, View, WentBack
from otto_protocol.roster import Roster

AHEAD = 1  # steps: nobody honest is further ahead, and what is refused is asked for again
MAX_EARLY = 64  # messages of one seat for the next view that are remembered until it is entered
MAX_READINGS = 64  # ways to choose between contents of seats that signed twice, when a digest is looked for


class Log:
    """The messages of a match. `me` is this peer's seat (None: it only looks on)."""

    def __init__(self, roster: Roster, rng: Rng, me: int | None = None) -> None:
        replica = Replica(roster)
        self.roster = roster
        self.match = replica.match
        self.me = me
        self.steps: list[tuple[m.Message, ...]] = []  # what stands of each step that can not be gone back to
        self.convicted: dict[int, Conviction] = {}
        self.leaves: dict[int, m.Message] = {}
        self.taken: list[bytes] = []  # what was new, in wire form, in the order in which it was taken
        self.changes: list[Change] = []
        self.path: list[Node] = [
            Node(replica, ())
        ]  # from the last step that can be gone back to, to the position
        self.views: list[View] = [View(0, Ballots(replica.live), 0, known={self.path[0].place: self.path[0]})]
        self._rng = rng
        self._verdicts: dict[tuple[bytes, bytes], Spoken | PeerFault] = {}  # by digest and content
        self._proofs_held: set[tuple[bytes, bytes]] = set()  # likewise: shuffle proofs that hold
        self._early: dict[int, deque[bytes]] = {}

    def copy(self, rng: Rng | None = None) -> Self:
        """Another log of the same messages; what is taken by one is not taken by the other."""
        other = copy.copy(self)
        other._rng = rng or self._rng
        other.steps, other.convicted = list(self.steps), dict(self.convicted)
        other.leaves, other.taken = dict(self.leaves), list(self.taken)
        other.changes, other.path = list(self.changes), list(self.path)
        other.views = [view.copy() for view in self.views]
        other._verdicts, other._proofs_held = dict(self._verdicts), set(self._proofs_held)
        other._early = {seat: deque(kept, MAX_EARLY) for seat, kept in self._early.items()}
        return other

    # -- what follows from the messages ---------------------------------------------------------------

    @property
    def replica(self) -> Replica:
        """The public state at the position."""
        return self.path[-1].replica

    @property
    def view(self) -> View:
        """The view now."""
        return self.views[-1]

    @property
    def live(self) -> tuple[int, ...]:
        """The seats of this view."""
        return self.replica.live

    def accused(self) -> frozenset[int]:
        """The convicted seats that have not been removed yet."""
        return frozenset(self.convicted) & frozenset(self.live)

    def spoken(self) -> dict[int, Spoken]:
        """What has been said at the position so far, by seat."""
        return self._valid(self.path[-1])

    def awaited(self) -> tuple[int, ...]:
        """The live seats of which nothing is here that counts for this step."""
        if self.replica.phase is MatchPhase.OVER:
            return ()
        said = self.spoken()
        return tuple(seat for seat in self.live if seat not in said)

    def content(self, step: int, seat: int) -> m.Message | None:
        """What a seat said in a step of this view, the first thing if it was two."""
        kept = self.contents(self.view, step, seat)
        return kept[0] if kept else None

    def is_sealed(self) -> bool:
        """Whether this seat has voted in this view: it signs no other message in it."""
        return self.me is not None and bool(self.view.ballots.of(self.me))

    def count(self) -> Count:
        """What the ballots of this view mean."""
        return Count.of(
            self.view.ballots,
            self.convicted,
            self.leaves,
            lambda vote, own: self.named(vote.header.step, own) is not None,
        )

    def proposal(self, gone: frozenset[int]) -> m.Vote:
        """What this peer would vote for from its position, to go on without these seats (its round is left open)."""
        proven = frozenset(self.convicted) | frozenset(self.leaves)
        owns = []
        for seat in self.live:
            said = [one for one in self._here(seat) if one.header.previous == self.replica.digest]
            if seat not in gone and len(said) == 1:
                owns.append(m.Own(seat, said[0].content_hash()))
        return m.Vote(1, tuple(sorted(gone)), tuple(sorted(gone & proven)), tuple(owns))

    def _here(self, seat: int) -> list[m.Message]:
        return self.contents(self.view, self.replica.step, seat)

    def named(self, step: int, own: m.Own, view: View | None = None) -> m.Message | None:
        said = self.contents(view or self.view, step, own.seat)
        return next((one for one in said if one.content_hash() == own.content), None)

    def contents(self, view: View, step: int, seat: int) -> list[m.Message]:
        kept = view.places.get(step, {}).get(seat)
        if kept is None and view.first <= step < min(len(self.steps), self.end_of(view)):
            return [one for one in self.steps[step] if one.header.seat == seat]
        return kept or []

    def end_of(self, view: View) -> int:
        """The step behind the last one of a view, as far as it is known."""
        return len(self.steps) + 1 if view.closed is None else self.views[view.number + 1].first

    # -- what comes in ----------------------------------------------------------------------------------

    def receive(self, data: bytes) -> bool:
        """Take what came from the network; True if it was new: worth storing, and passing on.

        Raises DecodeError for bytes that no member of this match signed; nobody can be blamed for them.
        """
        parsed = m.parse(data)
        before = len(self.taken)
        if isinstance(parsed, m.Evidence):
            self._take_evidence(parsed, data)
        else:
            self._require_signed(parsed)
            self._take_signed(parsed, data)
        self.follow()
        return len(self.taken) > before

    def _require_signed(self, signed: m.Signed) -> None:
        members = self.roster.members
        if signed.seat >= len(members) or not m.signature_valid(signed, members[signed.seat].key, self.match):
            raise DecodeError("not signed by a member of this match")

    def _take_signed(self, signed: m.Signed, data: bytes) -> None:
        fault = fault_alone(signed, self.match)
        if fault is not None:
            if self._convict(fault, m.Evidence((signed,)), self.view.number, None):
                self.taken.append(data)
            return
        self.take(m.parse_content(signed), data)

    def take(self, message: m.Message, data: bytes) -> bool:
        """Keep a message whose signature holds; False if it is not new, or for a place that is far away."""
        view, seat = message.header.view, message.header.seat
        if view > self.view.number:
            if view == self.view.number + 1:
                self._early.setdefault(seat, deque(maxlen=MAX_EARLY)).append(data)
            return False
        if isinstance(message.body, m.Leave):
            new = self._keep_leave(message)
        elif isinstance(message.body, m.BALLOTS):
            new = self.views[view].ballots.add(message)
        else:
            new = self._keep_content(self.views[view], message)
        if new:
            self.taken.append(data)
        for other in self._others(message) if new else ():
            fault = contradiction(other, message)
            if fault is not None:
                pair = m.Evidence((other.signed, message.signed))
                self._convict(fault, pair, view, None)
                break
        return new

    def _others(self, message: m.Message) -> Iterable[m.Message]:
        """What else the same seat has said, as far as it can contradict this message."""
        seat, number = message.header.seat, message.header.view
        later = number if not isinstance(message.body, m.Leave) else len(self.views) - 1
        if seat in self.leaves:
            yield self.leaves[seat]
        for view in self.views[number : later + 1]:
            yield from view.ballots.of(seat)
            for step in {*view.places, message.header.step}:
                yield from self.contents(view, step, seat)

    def _keep_leave(self, leave: m.Message) -> bool:
        seat = leave.header.seat
        if seat not in self.live:
            return False
        known = self.leaves.setdefault(seat, leave)
        if known is leave:
            return True
        return known.signed.content != leave.signed.content and seat not in self.convicted

    def _keep_content(self, view: View, message: m.Message) -> bool:
        """At most two contents of a seat for a step, and what a vote names: more of them say nothing more."""
        seat, step = message.header.seat, message.header.step
        if seat not in view.ballots.live or step < view.first:
            return False
        if step > (self.replica.step if view.closed is None else view.closed.step) + AHEAD:
            return False
        if seat in self.convicted and step < (len(self.steps) if view.closed is None else view.closed.step):
            return False  # it is settled what stands there, and there is nothing left to prove
        known = self.contents(view, step, seat)
        if message.signed.content in [one.signed.content for one in known]:
            return False
        is_named = view.ballots.names(seat, message.content_hash())
        if len(known) > 1 and not is_named and not self._is_the_result(message):
            return False
        kept = view.places.setdefault(step, {}).setdefault(seat, [])
        kept += [one for one in known if one not in kept]
        kept.append(message)
        return True

    def _is_the_result(self, message: m.Message) -> bool:
        """Whether it signs the result of the game at the position: that counts, whatever else its seat says."""
        here = self.replica
        at = (message.header.view, message.header.step, message.header.previous)
        is_here = here.phase is MatchPhase.RESULT and at == (here.view, here.step, here.digest)
        return is_here and isinstance(message.body, m.Result) and message.body.points == here.result_points()

    def _take_evidence(self, evidence: m.Evidence, data: bytes) -> None:
        """Convict by what somebody else has found, if it holds here; the accused messages are messages, too."""
        if not evidence.accused:
            raise DecodeError("evidence against nobody")
        seat = evidence.accused[0].seat
        for signed in (*evidence.accused, *evidence.before):
            self._require_signed(signed)
        if seat in self.convicted:
            return
        for signed in self._worth_taking(evidence):
            self.take(m.parse_content(signed), pack(signed))
        if seat in self.convicted:
            return
        fault, step = self._proven(evidence)
        if fault is not None and fault.culprit == seat:
            view = self.view.number if step is None else m.parse_content(evidence.accused[0]).header.view
            self._convict(fault, evidence, view, step)
            self.taken.append(data)

    def _worth_taking(self, evidence: m.Evidence) -> tuple[m.Signed, ...]:
        """Those of the accused messages that may be as new as others: ballots only when they convict."""
        if any(fault_alone(signed, self.match) is not None for signed in evidence.accused):
            return ()
        accused = [m.parse_content(signed) for signed in evidence.accused]
        if len(accused) == 1 and not isinstance(accused[0].body, m.BALLOTS):
            return evidence.accused
        return evidence.accused if contradiction(accused[0], accused[-1]) is not None else ()

    def _proven(self, evidence: m.Evidence) -> tuple[PeerFault | None, int | None]:
        first = evidence.accused[0]
        fault = fault_alone(first, self.match)
        if fault is not None:
            return fault, None
        accused = m.parse_content(first)
        if len(evidence.accused) == 2:
            if fault_alone(evidence.accused[1], self.match) is not None:
                return None, None
            return contradiction(accused, m.parse_content(evidence.accused[1])), None
        if isinstance(accused.body, m.BALLOTS) or accused.header.view >= len(self.views):
            return None, None
        view = self.views[accused.header.view]
        place = (accused.header.step, accused.header.previous)
        node = view.known.get(place) or self._derive(view, place, evidence.before)
        if node is None:
            return None, None
        verdict = self._judge(node.replica, accused)
        if isinstance(verdict, Spoken):
            return self._proof_fault(node.replica, verdict), accused.header.step
        return verdict, accused.header.step

    def _proof_fault(self, replica: Replica, spoken: Spoken) -> PeerFault | None:
        """What is wrong with the shuffle proof in a message; each is verified once, for that takes long."""
        key = (replica.digest, spoken.message.signed.content)
        if key not in self._proofs_held:
            fault = replica.proof_fault(spoken, self._rng)
            if fault is not None:
                self._verdicts[key] = fault
                return fault
            self._proofs_held.add(key)
        return None

    def _derive(self, view: View, place: Place, before: Iterable[m.Signed]) -> Node | None:
        """The step of this digest, if these are valid messages of all seats of one before that is known here."""
        step, digest = place
        if step > (self.replica.step if view.closed is None else view.closed.step) + 2:
            return None
        try:
            said = {signed.seat: m.parse_content(signed) for signed in before}
        except DecodeError:
            return None
        for node in list(view.known.values()):
            replica = node.replica
            if replica.step == step - 1 and set(said) == set(replica.live):
                if replica.step_digest(said) != digest:
                    continue  # nothing is judged, or kept, for a digest that nobody has signed anything on
                judged = {seat: self._judge(replica, one) for seat, one in said.items()}
                valid = {seat: one for seat, one in judged.items() if isinstance(one, Spoken)}
                return self._after(node, valid) if set(valid) == set(said) else None
        return None

    def counts(self, signed: m.Signed) -> bool:
        """Whether a message that was just taken has a place in the log, as in a transcript, which is in order."""
        message = m.parse_content(signed)
        header = message.header
        if isinstance(message.body, m.Leave):  # of a seat that was to stay, and left while the view opened
            return self.replica.phase is not MatchPhase.OVER and header.seat in self.live
        if isinstance(message.body, m.BALLOTS):
            return self.replica.phase is not MatchPhase.OVER and header.view == self.view.number
        stands = self.steps[-1:] + [node.before for node in self.path] + [self._spoken_here()]
        return any(message.signed.content == one.signed.content for said in stands for one in said)

    def _spoken_here(self) -> tuple[m.Message, ...]:
        return tuple(one.message for one in self.spoken().values())

    # -- judging ----------------------------------------------------------------------------------------

    def _convict(self, fault: PeerFault, evidence: m.Evidence, view: int, step: int | None) -> bool:
        if fault.culprit in self.convicted:
            return False
        conviction = Conviction(fault.culprit, fault.rule, fault.text, evidence, view, step)
        self.convicted[fault.culprit] = conviction
        self.changes.append(conviction)
        return True

    def _judge(self, replica: Replica, message: m.Message) -> Spoken | PeerFault | None:
        """What a message means at the start of its step; None if it was signed on top of another log."""
        if message.header.previous != replica.digest:
            return None
        key = (replica.digest, message.signed.content)
        verdict = self._verdicts.get(key)
        if verdict is None:
            try:
                verdict = Spoken(message, replica.check(message.header.seat, message.body))
            except PeerFault as fault:
                verdict = fault
            self._verdicts[key] = verdict
        return verdict

    def _judge_all(self) -> None:
        """Convict whoever broke a rule on any digest that is known in this view."""
        view = self.view
        for node in list(view.known.values()):
            for seat, contents in view.places.get(node.replica.step, {}).items():
                for one in contents if seat not in self.convicted else ():
                    verdict = self._judge(node.replica, one)
                    if isinstance(verdict, PeerFault):
                        self._convict_by(node, one, verdict)

    def _convict_by(self, node: Node, message: m.Message, fault: PeerFault) -> None:
        before = tuple(one.signed for one in node.before)
        evidence = m.Evidence((message.signed,), before)
        if self._convict(fault, evidence, message.header.view, message.header.step):
            self.taken.append(pack(evidence))  # others may lack what the digest before it was made of

    # -- the position -------------------------------------------------------------------------------------

    def _valid(self, node: Node) -> dict[int, Spoken]:
        """The valid messages of a step, of seats that have said one thing only.

        There is only one valid result, so there it does not matter what else a seat has said.
        """
        said = self.view.places.get(node.replica.step, {})
        only_one = node.replica.phase is MatchPhase.RESULT
        valid = {}
        for seat in sorted(said):
            judged = [self._judge(node.replica, one) for one in said[seat]]
            spoken = [one for one in judged if isinstance(one, Spoken)]
            if spoken and (only_one or len(judged) == 1):
                valid[seat] = spoken[0]
        return valid

    def _complete(self, node: Node) -> dict[int, Spoken] | None:
        """What completes a step, or None."""
        replica = node.replica
        if replica.phase is MatchPhase.OVER:
            return None
        said, valid = self.view.places.get(replica.step, {}), self._valid(node)
        missing = [seat for seat in replica.live if seat not in valid]
        if not missing:
            return valid
        if any(len(said.get(seat, ())) < 2 for seat in missing):
            return None
        settled = self._settled(replica.step)
        return None if settled is None else self._reading(node, settled)

    def _settled(self, step: int) -> bytes | None:
        """The one digest that all live seats that are not convicted have signed something on, after this step."""
        said = self.view.places.get(step + 1, {})
        names = [said.get(seat, []) for seat in self.live if seat not in self.convicted]
        if not names or not all(names):
            return None
        digests = {one.header.previous for contents in names for one in contents}
        return next(iter(digests)) if len(digests) == 1 else None

    def _reading(self, node: Node, digest: bytes) -> dict[int, Spoken] | None:
        """Which of the contents of seats that signed twice give this digest after the step."""
        replica, said = node.replica, self.view.places.get(node.replica.step, {})
        choices = []
        for seat in replica.live:
            judged = [self._judge(replica, one) for one in said.get(seat, [])]
            choices.append([one for one in judged if isinstance(one, Spoken)])
        for reading in itertools.islice(itertools.product(*choices), MAX_READINGS):
            spoken = dict(zip(replica.live, reading, strict=True))
            if replica.step_digest({seat: one.message for seat, one in spoken.items()}) == digest:
                return spoken
        return None

    def _after(self, node: Node, spoken: Mapping[int, Spoken]) -> Node | None:
        """The next step, or None if its messages turn out to break a rule together; who did so is convicted."""
        replica = node.replica
        digest = replica.step_digest({seat: one.message for seat, one in spoken.items()})
        known = self.views[replica.view].known
        if (replica.step + 1, digest) not in known:
            try:
                after = replica.advance(spoken, self._rng, self.me)
            except StepFaults as error:
                for fault in error.faults:
                    message = spoken[fault.culprit].message
                    self._verdicts[replica.digest, message.signed.content] = fault
                    self._convict_by(node, message, fault)
                return None
            said = tuple(spoken[seat].message for seat in sorted(spoken))
            known[replica.step + 1, digest] = Node(after, said)
        return known[replica.step + 1, digest]

    def _derive_others(self) -> None:
        """Know the digests of other readings of a step, too, when somebody has signed something on them."""
        view = self.view
        for step in range(self.path[0].replica.step, self.replica.step + 1):
            wanted = {one.header.previous for kept in view.places.get(step + 1, {}).values() for one in kept}
            for digest in sorted(wanted):
                if (step + 1, digest) in view.known:
                    continue
                for node in [one for one in view.known.values() if one.replica.step == step]:
                    reading = self._reading(node, digest)
                    if reading is not None:
                        self._after(node, reading)

    def follow(self) -> None:
        """Move to where the messages put this peer; convict whom they convict."""
        convicted = -1
        while convicted != len(self.convicted):  # a conviction can settle a step, and a step can convict
            convicted = len(self.convicted)
            self._walk()
            self._derive_others()
            self._judge_all()

    def _walk(self) -> None:
        before = [node.place for node in self.path]
        self.path, visited, new = self.path[:1], self.path[:1], list[Change]()
        while (spoken := self._complete(self.path[-1])) is not None:
            after = self._after(self.path[-1], spoken)
            if after is None:
                continue  # some of it was not valid after all
            if after.place not in before:
                new.append(Completed(self.path[-1].replica, spoken, after.replica))
            self.path.append(after)
            visited.append(after)
            is_over = after.replica.phase is MatchPhase.OVER  # that is never gone back from
            while len(self.path) > 1 and (is_over or (len(self.path) > 2 and not self.is_sealed())):
                self._settle()
        places = [node.place for node in visited]
        if before[-1] not in places:
            kept = [node for node in visited if node.place in before]
            self.changes.append(WentBack(kept[-1].replica))
        self.changes += new

    def _settle(self) -> None:
        """A complete step settles the one before, which can not be gone back to any more."""
        view, step = self.view, self.path[0].replica.step
        del self.path[0]
        self.steps.append(self.path[0].before)
        view.places.pop(step, None)
        view.known = {place: node for place, node in view.known.items() if place[0] > step}
        held = {place[1] for place in view.known}
        self._verdicts = {key: verdict for key, verdict in self._verdicts.items() if key[0] in held}
        self._proofs_held = {key for key in self._proofs_held if key[0] in held}

    # -- the next view ------------------------------------------------------------------------------------

    def open_view(self, proposal: Proposal) -> bool:
        """Go on by a proposal that is agreed; False while its step can not be derived here."""
        view = self.view
        node = view.known.get((proposal.step, proposal.digest))
        if node is None or node.replica.phase is MatchPhase.OVER:
            return False
        standing = {}
        for seat, content in proposal.owns:
            message = self.named(proposal.step, m.Own(seat, content))
            verdict = None if message is None else self._judge(node.replica, message)
            if isinstance(verdict, Spoken):
                standing[seat] = verdict
        after = node.replica.without(proposal.gone, standing, proposal.opens)
        self._tell_way(node)
        self.steps += [one.before for one in self._way(node)]
        self.steps.append(tuple(standing[seat].message for seat in sorted(standing)))
        assert len(self.steps) == after.step
        view.closed = proposal
        self.path = [Node(after, ())]
        self.views.append(
            View(after.view, Ballots(after.live), after.step, known={self.path[0].place: self.path[0]})
        )
        self.changes.append(Opened(node.replica, standing, after, proposal.gone))
        early, self._early = self._early, {}
        for data in [one for seat in sorted(early) for one in early[seat]]:
            signed = m.parse(data)
            assert isinstance(signed, m.Signed)
            self._take_signed(signed, data)
            self.follow()
        self.follow()
        return True

    def _tell_way(self, node: Node) -> None:
        """The steps up to this one are complete, though the position may be elsewhere, or not there yet."""
        walked = [one.place for one in self.path]
        for one in self._way(node):
            if one.place not in walked:
                before = self.view.known[one.replica.step - 1, one.before[0].header.previous].replica
                judged = {said.header.seat: self._judge(before, said) for said in one.before}
                spoken = {seat: said for seat, said in judged.items() if isinstance(said, Spoken)}
                self.changes.append(Completed(before, spoken, one.replica))

    def _way(self, node: Node) -> list[Node]:
        """The steps after those that are in `steps`, up to this one."""
        way: list[Node] = []
        while node.replica.step > len(self.steps):
            way.insert(0, node)
            node = self.view.known[node.replica.step - 1, node.before[0].header.previous]
        return way
