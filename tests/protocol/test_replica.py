"""One message against the state: each P rule by its number, and cards that are not there to be opened."""

from __future__ import annotations

import copy
import dataclasses

import pytest

from otto_protocol.crypto.commitments import commit
from otto_protocol.crypto.deck import encode_deck
from otto_protocol.crypto.group import G
from otto_protocol.errors import PeerFault
from otto_protocol.hashing import Drbg
from otto_protocol.match import messages as m
from otto_protocol.match.effects import Purpose
from otto_protocol.match.phases import MatchPhase
from otto_protocol.match.replica import Replica, Spoken, StepFaults
from tests.protocol.lab_games import RNG, all_steps, first, played, sign_at

NO_POINT = b"\x02" + b"\xff" * 32  # the right length and prefix, no x of the curve


def fault(replica: Replica, seat: int, body: m.Body) -> str:
    """The rule that a message breaks; whoever signed it is the culprit."""
    with pytest.raises(PeerFault) as caught:
        replica.check(seat, body)
    assert caught.value.culprit == seat
    return caught.value.rule


def flipped(data: bytes, at: int = -1) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


def advance(replica: Replica, bodies: dict[int, m.Body], players: int = 2) -> Replica:
    """The next replica when the seats say these bodies, and the others Ack (their signatures do not matter)."""
    lab = played(players)
    bodies = {**{seat: m.Ack() for seat in replica.live if seat not in replica.wanted()}, **bodies}
    return replica.advance(
        {
            seat: Spoken(sign_at(replica, lab.identities[seat], seat, body), replica.check(seat, body))
            for seat, body in bodies.items()
        },
        RNG,
    )


def said(replica: Replica, player: str = "eager") -> dict[int, m.Body]:
    """What was said in this step of the sample game, but for Acks."""
    for one, spoken in all_steps(2, player=player):
        if one.step == replica.step:
            bodies = {seat: entry.message.body for seat, entry in spoken.items()}
            return {seat: body for seat, body in bodies.items() if body != m.Ack()}
    raise LookupError(replica.step)


def test_check_changes_nothing_and_takes_every_honest_message_again() -> None:
    for replica, spoken in all_steps(2)[:60]:
        before = dict(vars(replica))
        for seat, one in spoken.items():
            assert replica.check(seat, one.message.body) == one.effect
        assert vars(replica) == before


def test_the_digest_is_of_the_contents_in_seat_order() -> None:
    replica, spoken = all_steps(2)[0]
    messages = {seat: one.message for seat, one in spoken.items()}
    digest = replica.step_digest(messages)
    assert digest == replica.step_digest(dict(reversed(messages.items()))) == all_steps(2)[1][0].digest
    other = sign_at(replica, played(2).identities[0], 0, m.KeyCommit(bytes(32)))
    assert replica.step_digest({**messages, 0: other}) != digest


def test_contexts_differ_by_everything_that_they_bind() -> None:
    replica = all_steps(2)[30][0]
    contexts = {
        replica.context(purpose, seat) for purpose in (Purpose.OPEN, Purpose.SHARES) for seat in (0, 1)
    }
    for field, value in [
        ("match", bytes(32)), ("game", 2), ("view", 1), ("step", 0), ("digest", bytes(32)), ("joint", G),
        ("keys", {0: G, 1: G}),
    ]:  # fmt: skip
        other = copy.copy(replica)
        setattr(other, field, value)
        contexts.add(other.context(Purpose.OPEN, 0))
    assert len(contexts) == 4 + 7


def test_t04_two_games_of_a_match_draw_their_starters_anew() -> None:
    starts = [r for r, _ in all_steps(2, games=2) if r.phase is MatchPhase.SHUFFLE and not r.shuffles]
    assert [replica.game for replica in starts] == [1, 2]
    assert starts[0].order == starts[1].order
    assert starts[0].keys != starts[1].keys


def test_r17_the_points_of_a_match_add_up() -> None:
    end = all_steps(2, games=2)[-1][0]
    assert [sum(column) for column in zip(*(one.points for one in end.results), strict=True)] == [*end.totals]


def test_p04_a_key_opens_its_commitment() -> None:
    replica, seat, body = first(MatchPhase.KEY_OPEN)
    assert isinstance(body, m.KeyOpen)
    assert fault(replica, seat, dataclasses.replace(body, nonce=flipped(body.nonce))) == "P4"
    assert fault(replica, seat, dataclasses.replace(body, key=G.encode())) == "P4"
    others = said(replica)[1 - seat]
    assert fault(replica, seat, others) == "P4"  # another seat's opening, copied


def test_p05_a_copied_or_broken_key() -> None:
    start, seat, _body = first(MatchPhase.KEY_COMMIT)
    _replica, _, opened = first(MatchPhase.KEY_OPEN)
    assert isinstance(opened, m.KeyOpen)
    for key, possession in [
        (NO_POINT, opened.possession),
        (opened.key, bytes(48)),
        (opened.key, flipped(opened.possession)),
        (opened.key, b""),
        (G.encode(), opened.possession),
    ]:
        bad = m.KeyOpen(opened.nonce, key, possession)
        content = bad.committed()
        promise = m.KeyCommit(commit(start.context(Purpose.KEY, seat), content, bad.nonce))
        after = advance(start, {**said(start), seat: promise})
        assert fault(after, seat, bad) == "P5"


def test_p06_a_deck_of_another_size_or_of_no_points() -> None:
    replica, seat, body = first(MatchPhase.SHUFFLE)
    assert isinstance(body, m.Shuffle)
    for deck in (b"", body.deck[:-66], body.deck + body.deck[:66], body.deck[:-1], NO_POINT + body.deck[33:]):
        assert fault(replica, seat, m.Shuffle(deck)) == "P6"


def proving() -> tuple[Replica, dict[int, Spoken]]:
    return next(step for step in all_steps(3) if step[0].phase is MatchPhase.PROVE)


def faults(replica: Replica, spoken: dict[int, Spoken]) -> set[tuple[int, str]]:
    with pytest.raises(StepFaults) as caught:
        replica.advance(spoken, RNG)
    return {(one.culprit, one.rule) for one in caught.value.faults}


def reproved(replica: Replica, one: Spoken, proof: bytes) -> Spoken:
    seat = one.message.header.seat
    message = sign_at(replica, played(3).identities[seat], seat, m.ShuffleProof(proof))
    return Spoken(message, replica.check(seat, message.body))


def test_p07_every_maker_of_a_bad_shuffle_proof_and_nobody_else() -> None:
    replica, spoken = proving()
    proofs = {seat: one.message.body.proof for seat, one in spoken.items()}  # type: ignore[union-attr]
    for culprits in ({0}, {1, 2}, {0, 1, 2}):
        changed = {
            seat: reproved(replica, one, flipped(proofs[seat])) if seat in culprits else one
            for seat, one in spoken.items()
        }
        assert faults(replica, changed) == {(seat, "P7") for seat in culprits}
    for bad in (b"", proofs[1], proofs[0][:-1], bytes(len(proofs[0]))):  # nobody else's proof either
        assert faults(replica, {**spoken, 0: reproved(replica, spoken[0], bad)}) == {(0, "P7")}


def test_p07_a_deck_that_is_no_shuffle() -> None:
    replica, seat, body = first(MatchPhase.SHUFFLE)
    assert isinstance(body, m.Shuffle)
    twice = encode_deck((replica.deck[0], *replica.deck[:-1]))  # a card twice, another one missing
    for deck in (twice, body.deck[66:] + body.deck[:66]):
        current = advance(replica, {seat: m.Shuffle(deck)})
        other = current.wanted()[0]
        shuffled = advance(current, {other: m.Shuffle(encode_deck(current.deck))})
        wrong = m.ShuffleProof(bytes(9000))
        spoken = {
            s: Spoken(sign_at(shuffled, played(2).identities[s], s, wrong), shuffled.check(s, wrong))
            for s in (0, 1)
        }
        assert faults(shuffled, spoken) == {(0, "P7"), (1, "P7")}


def test_p08_shares_for_exactly_the_cards_that_are_dealt_to_others() -> None:
    for phase in (MatchPhase.DEAL, MatchPhase.DRAW):
        replica, seat, body = first(phase)
        assert isinstance(body, m.Shares)
        for shares in (b"", body.shares[33:], body.shares + G.encode(), NO_POINT + body.shares[33:]):
            assert fault(replica, seat, m.Shares(shares, body.proof)) == "P8"


def test_p09_the_proof_of_the_shares() -> None:
    for phase in (MatchPhase.DEAL, MatchPhase.DRAW):
        replica, seat, body = first(phase)
        assert isinstance(body, m.Shares)
        for proof in (b"", flipped(body.proof), flipped(body.proof, 0), bytes(48)):
            assert fault(replica, seat, m.Shares(body.shares, proof)) == "P9"
        assert fault(replica, seat, m.Shares(G.encode() + body.shares[33:], body.proof)) == "P9"
        swapped = body.shares[33:66] + body.shares[:33] + body.shares[66:]
        if len(body.shares) > 33:
            assert fault(replica, seat, m.Shares(swapped, body.proof)) == "P9"


def test_p10_an_opening_has_its_shares_and_its_proof() -> None:
    checked = 0
    for replica, spoken in all_steps(2):
        for seat, one in spoken.items():
            body = one.message.body
            if not isinstance(body, m.Answer):
                continue
            given = body.opening
            bad = [m.Opening(given.shares + G.encode(), given.proof)]
            if given.shares:
                bad += [
                    m.Opening(G.encode(), given.proof),
                    m.Opening(NO_POINT, given.proof),
                    m.Opening(b"", b""),
                    m.Opening(given.shares, b""),
                    m.Opening(given.shares, flipped(given.proof)),
                ]
            else:
                bad += [m.Opening(b"", b"\1")]  # seen before: nothing is to be proven
            assert {fault(replica, seat, dataclasses.replace(body, opening=one)) for one in bad} == {"P10"}
            checked += 1
        if checked > 60:
            return
    raise AssertionError("too few answers to look at")


@pytest.mark.parametrize(("phase", "kind"), [(MatchPhase.PLAY, m.OpenLead), (MatchPhase.PLAY, m.OpenDuel)])
def test_p04_another_card_than_the_one_laid(phase: MatchPhase, kind: type[m.OpenLead | m.OpenDuel]) -> None:
    replica, seat, body = first(phase, kind)
    assert isinstance(body, kind)
    for other in replica.play.hands[seat]:
        if other != body.slot:
            assert fault(replica, seat, dataclasses.replace(body, slot=other)) == "P4"
    assert fault(replica, seat, dataclasses.replace(body, nonce=bytes(32))) == "P4"


def test_p04_another_number_than_the_chosen_one() -> None:
    for kind in (m.Otto, m.Score):
        replica, seat, body = first(MatchPhase.PLAY, kind)
        assert isinstance(body, kind)
        assert fault(replica, seat, dataclasses.replace(body, number=(body.number + 1) % 10)) == "P4"
        assert fault(replica, seat, dataclasses.replace(body, number_nonce=bytes(32))) == "P4"


def test_p04_another_decision_than_the_one_committed_to() -> None:
    kinds: set[type[m.Body]] = set()
    for replica, spoken in all_steps(2, player="patient"):
        for seat, one in spoken.items():
            body = one.message.body
            if isinstance(body, m.Otto | m.GoOn):
                committed = (seat, Purpose.OTTO) in replica.promises
                assert bool(body.nonce) == committed
                wrong = b"" if committed else bytes(32)
                assert fault(replica, seat, dataclasses.replace(body, nonce=wrong)) == "P4"
                if committed and isinstance(body, m.Otto):
                    assert fault(replica, seat, m.GoOn(body.nonce)) == "P4"
                if committed:
                    kinds.add(type(body))
    assert kinds == {m.Otto, m.GoOn}


def test_p11_a_result_is_what_the_log_gives() -> None:
    replica, seat, body = first(MatchPhase.RESULT)
    assert isinstance(body, m.Result)
    points = body.points
    for wrong in ((), points[:-1], (*points, 0), points[::-1], (points[0] + 1, *points[1:])):
        assert wrong == points or fault(replica, seat, m.Result(wrong)) == "P11"


def laid(replica: Replica, seat: int, what: Purpose, slot: int) -> Replica:
    """The same step, had the seat committed to this slot (under a nonce of zeros)."""
    changed = copy.copy(replica)
    promise = replica.promises[seat, what]
    digest = commit(promise.context, slot.to_bytes(4, "big"), bytes(32))
    changed.promises = {**replica.promises, (seat, what): dataclasses.replace(promise, digest=digest)}
    return changed


def test_r20_a_winner_that_leaves_while_the_last_scores_cross_takes_nothing_with_it() -> None:
    """What stands ends the game, and only then the seat is gone."""
    scoring, everybody = next(
        (replica, said)
        for replica, said in all_steps(3)
        if any(isinstance(one.message.body, m.Score) for one in said.values())
    )
    spoken = {seat: one for seat, one in everybody.items() if seat in scoring.wanted()}
    winner = next(seat for seat in scoring.live if seat not in spoken)
    honest = scoring.advance(everybody, RNG)
    after = scoring.without(frozenset({winner}), spoken, bytes(32))
    assert (after.phase, after.live) == (MatchPhase.RESULT, tuple(sorted(spoken)))
    assert after.result_points() == honest.result_points()
    assert after.result_points()[winner] >= 10


def test_r20_whoever_leaves_a_table_of_two_in_the_deal_has_lost() -> None:
    dealing, _, _ = first(MatchPhase.DEAL)
    after = dealing.without(frozenset({0}), {}, bytes(32))
    assert (after.phase, after.result_points()) == (MatchPhase.RESULT, (0, 10))
    before, _, _ = first(MatchPhase.PROVE)
    assert before.without(frozenset({0}), {}, bytes(32)).phase is MatchPhase.OVER  # nobody has seen a card


def test_t06_the_card_that_is_laid_is_a_card_of_the_hand() -> None:
    replica, seat, _ = first(MatchPhase.PLAY, m.OpenLead)
    for slot in (replica.play.hands[1 - seat][0], replica.play.pile[0], *replica.play.collections[seat][:1]):
        body = m.OpenLead(slot, bytes(32), m.Opening(b"", b""))
        assert fault(laid(replica, seat, Purpose.LEAD, slot), seat, body) == "T6"


def test_t12_the_duel_card_is_a_card_of_the_hand() -> None:
    replica, seat, _ = first(MatchPhase.PLAY, m.OpenDuel)
    for slot in (replica.play.hands[1 - seat][0], replica.play.collections[seat][0]):
        body = m.OpenDuel(slot, bytes(32), m.Opening(b"", b""))
        assert fault(laid(replica, seat, Purpose.DUEL, slot), seat, body) == "T12"


def test_t07_an_answer_is_a_card_of_the_hand() -> None:
    replica, seat, body = first(MatchPhase.PLAY, m.Answer)
    assert isinstance(body, m.Answer)
    state = replica.play
    for slot in (state.hands[1 - seat][0], *state.collections[seat][:1], *state.pile[:1], 2**32 - 1):
        assert fault(replica, seat, dataclasses.replace(body, slot=slot)) == "T7"


def test_t13_the_lost_card_is_one_of_the_collection() -> None:
    replica, seat, body = first(MatchPhase.PLAY, m.LoseCard)
    assert isinstance(body, m.LoseCard)
    for slot in (*replica.play.hands[seat][:1], *replica.play.collections[1 - seat][:1], 2**32 - 1):
        assert fault(replica, seat, dataclasses.replace(body, slot=slot)) == "T13"


def test_r14_bonus_cards_are_own_hand_cards_and_counted_once() -> None:
    replica, seat, body = first(MatchPhase.PLAY, m.Otto)
    assert isinstance(body, m.Otto)
    hand = replica.play.hands[seat]
    for bonus in ((hand[0], hand[0]), (replica.play.collections[seat][0],), (2**32 - 1,)):
        assert fault(replica, seat, dataclasses.replace(body, bonus=bonus)) == "R14"


def test_two_replicas_with_other_randomness_agree() -> None:
    replica, spoken = proving()
    one, other = replica.advance(spoken, Drbg(b"one")), replica.advance(spoken, Drbg(b"other"))
    assert (one.digest, one.phase, one.pile) == (other.digest, other.phase, other.pile)
