"""What the built-in player reckons with: chances from the cards that its seat cannot place.

An unknown hand card is taken to be any unplaced card with equal chance, and players are taken to discard
and guess sensibly. Every number here is an estimate for choosing a move, none is a rule.
"""

from __future__ import annotations

from functools import cached_property
from math import exp, inf

from otto_protocol.rules import ENOUGH, HAND, OTTO_POINTS, Bonus, SeatView, bonuses
from otto_protocol.rules.cards import COLOURS, NUMBERS, colour, copies, deck_size, number

HUES = range(len(COLOURS))
FRESH = 0.5  # what a new card is worth, where 0 is a card for nothing and 1 one of its own number


class Odds:
    """The estimates for one decision of one seat."""

    def __init__(self, view: SeatView) -> None:
        self.view = view
        self.state = view.state
        self.seat = view.seat
        self.own = view.secret.number
        self.opponents = [seat for seat in self.state.order if seat != view.seat and seat in self.state.live]
        self.collected = [len(laid) for laid in self.state.collections]
        self.hand = [card for _, card in view.hand]
        self.left = view.faces_left()
        self.quiet_rounds = self.state.quiet / len(self.state.live)

    @cached_property
    def unplaced(self) -> int:
        """How many cards are where the seat does not know."""
        return max(1, sum(map(sum, self.left)))

    def copies(self, face: int) -> int:
        """How many cards with this number the decks have."""
        return copies(face, self.state.decks)

    @cached_property
    def _public_left(self) -> list[list[int]]:
        """[number][colour]: the cards that nobody has seen since they were last shuffled."""
        decks = self.state.decks
        left = [[copies(face, decks) // len(COLOURS)] * len(COLOURS) for face in NUMBERS]
        for card in (*self.state.known.values(), *self.state.spent):
            left[number(card)][colour(card)] -= 1
        return left

    def hand_colours(self, seat: int) -> list[float]:
        """By colour: how many cards of it a seat's hand holds, as far as the public can tell."""
        counts = [0.0] * len(COLOURS)
        for card in self.view.seen(seat):
            counts[colour(card)] += 1
        unknown = len(self.state.hands[seat]) - int(sum(counts))
        left = self._public_left if seat == self.seat else self.left
        total = max(1, sum(map(sum, left)))
        return [counts[hue] + unknown * sum(row[hue] for row in left) / total for hue in HUES]

    def led_colours(self, leader: int, said: int) -> list[float]:
        """By colour: the chance that a card led as `said` has it, for those who see it face down."""
        left = self._public_left if leader == self.seat else self.left
        total = max(1, sum(map(sum, left)))
        seen = self.view.seen(leader)
        unknown = len(self.state.hands[leader]) - len(seen)
        weights = [unknown * max(0, left[said][hue]) / total + 1e-6 for hue in HUES]
        for card in seen:
            if number(card) == said:
                weights[colour(card)] += 1
        whole = sum(weights)
        return [weight / whole for weight in weights]

    def matched(self, card: int) -> float:
        """The chance that somebody answers this card of ours, if we lead it, with its colour."""
        hue, said = colour(card), number(card)
        sharp = [chance**2 for chance in self.led_colours(self.seat, said)]
        tendency = sharp[hue] / sum(sharp)
        alone = 1.0
        for seat in self.opponents:
            seen = self.view.seen(seat)
            if any(colour(other) == hue and number(other) != said for other in seen):
                has = 1.0
            else:
                share = sum(self.left[face][hue] for face in NUMBERS if face != said) / self.unplaced
                has = 1 - max(0.0, 1 - share) ** (len(self.state.hands[seat]) - len(seen))
            alone *= 1 - tendency * has
        return 1 - alone

    def could_collect(self, seat: int, face: int) -> bool:
        """Whether a seat may be collecting this number: not shown from its hand, and enough copies left."""
        if self.state.shown[seat] >> face & 1 or any(number(card) == face for card in self.view.seen(seat)):
            return False
        return sum(self.left[face]) >= self.collected[seat]

    @cached_property
    def wanted(self) -> list[float]:
        """By number: 0 to 1, how much good a card of it may do to opponents who are far ahead."""
        wish = [0.0] * len(NUMBERS)
        for seat in self.opponents:
            faces = [face for face in NUMBERS if self.could_collect(seat, face)]
            for face in faces:
                wish[face] += (self.collected[seat] / ENOUGH) ** 3 / len(faces)
        return [min(1.0, chance) for chance in wish]

    def keep(self, card: int) -> float:
        """How much the seat wants to keep a hand card: FRESH is what an unknown new one is worth."""
        face = number(card)
        if face == self.own:
            return 1.0
        worth = 0.2 * self.wanted[face]
        if self.own is not None and abs(face - self.own) == 1 and 0 < self.own < 9:
            held = sum(number(other) == face for other in self.hand)
            across = sum(number(other) == 2 * self.own - face for other in self.hand)
            if held <= 2:
                worth += 0.1 + 0.1 * min(2, across)
        hues = [colour(other) for other in self.hand]
        if len(set(hues)) <= 2 and hues.count(colour(card)) == 1:
            worth += 0.15  # a hand of one colour loses every duel
        return worth * max(0.0, 1 - self.quiet_rounds / 20)  # when nobody gets on, anything goes

    def likely_colours(self, target: int) -> list[float]:
        """By colour: how often to say it in a duel with `target`, of 1 in all.

        Whoever lays the card does best to lay each colour of the hand equally often, however many cards of it
        there are; so a colour counts by the chance that the hand has it at all.
        """
        chances = [min(1.0, count) for count in self.hand_colours(target)]
        whole = sum(chances) or 1.0
        return [chance / whole for chance in chances]

    def chance_to_guess(self, target: int) -> float:
        """The chance to say the right colour in a duel with `target`."""
        return max(self.likely_colours(target))

    def duel_worth(self, target: int) -> float:
        """What a challenge is worth, in cards of the collection near its end; below 0 it is a bad idea."""
        chance = self.chance_to_guess(target)
        squares = sum(self.collected[seat] ** 2 for seat in self.opponents)
        gain = self._progress(target) * self.collected[target] ** 2 / max(1, squares)
        total = len(self.hand) + self.collected[self.seat]
        # A lost card is lost for ever: with seven left one can never say Otto.
        loss = self._progress(self.seat) + (0.1 * (HAND + 1 - total) if total > ENOUGH else 1.0)
        worth = chance * gain - (1 - chance) * loss
        if self.quiet_rounds > 12 and self.collected[target] >= self.collected[self.seat]:
            worth += 0.02 * (self.quiet_rounds - 12)  # nobody gets on: a card has to come free
        return worth

    def _progress(self, seat: int) -> float:
        return min(self.collected[seat], ENOUGH) / ENOUGH

    def choice_delay(self, face: int) -> float:
        """How long eight of a number take from the first hand (a relative time; inf when it cannot be)."""
        total = self.copies(face)
        held = sum(number(card) == face for card in self.hand)
        if total < ENOUGH:
            return inf
        delay = sum(1 / (total - have) for have in range(held, ENOUGH))
        neighbours = [sum(number(card) == near for card in self.hand) for near in (face - 1, face + 1)]
        return delay * (1 - 0.02 * sum(min(2, count) for count in neighbours if 0 < face < 9))

    def best_wait(self, now: tuple[Bonus, ...]) -> tuple[float, tuple[Bonus, ...]]:
        """For a seat that can say Otto: (gain of going on over saying it now, the bonus to wait for)."""
        assert self.own is not None
        mine = [card for _, card in (*self.view.collection, *self.view.hand)]
        ahead = max(self.collected[seat] for seat in self.opponents)
        said_now = OTTO_POINTS + sum(bonus.points for bonus in now) - ahead
        best, target = -inf, now
        for cards, missing, share in self._targets(mine):
            hoped = bonuses(self.own, [*mine, *cards])
            if sum(bonus.points for bonus in hoped) <= sum(bonus.points for bonus in now):
                continue
            chance = self._race(missing, share)
            won = OTTO_POINTS + sum(bonus.points for bonus in hoped) - ahead
            lost = self.collected[self.seat] - OTTO_POINTS - 1
            gain = chance * won + (1 - chance) * lost - said_now
            if gain > best:
                best, target = gain, hoped
        return best, target

    def _targets(self, mine: list[int]) -> list[tuple[list[int], int, float]]:
        """(cards to get, how many, chance that one draw is such a card) for every bonus worth a wait."""
        assert self.own is not None
        have = sum(number(card) == self.own for card in mine)
        spare = sum(number(card) != self.own for card in self.hand)  # every new card takes the place of one
        share = sum(self.left[self.own]) / self.unplaced
        targets = []
        if share:
            targets = [
                ([_card_of(self.own)] * more, more, share)
                for more in range(1, min(spare, ENOUGH + 4 - have) + 1)
            ]
        lacking = []
        for near in (self.own - 1, self.own + 1):
            lacking += [near] * max(0, 2 - sum(number(card) == near for card in mine))
        if 0 < self.own < 9 and 0 < len(lacking) <= min(2, spare):
            rarest = min(sum(self.left[near]) for near in lacking) / self.unplaced
            if rarest:
                targets.append(([_card_of(near) for near in lacking], len(lacking), rarest))
        return targets

    def _within_reach(self, seat: int) -> bool:
        """Whether a seat has enough cards to say Otto some day."""
        return len(self.state.hands[seat]) + self.collected[seat] >= ENOUGH

    def _race(self, missing: int, share: float) -> float:
        """The chance to get `missing` cards before any opponent completes eight; all draw equally often."""
        free = deck_size(self.state.decks) - sum(self.collected)
        rivals = [seat for seat in self.opponents if self._within_reach(seat)]
        chance, before = 0.0, 0.0
        for time in range(1, 400):  # in draws of everybody
            mine = _at_least(missing, share * time)
            others_not = 1.0
            for seat in rivals:
                needs = ENOUGH - self.collected[seat]
                rate = (self.copies(5) - self.collected[seat]) / free
                others_not *= 1 - _at_least(needs, rate * time)
            chance += (mine - before) * others_not
            before = mine
            if others_not < 0.01:
                break
        return chance


def _at_least(count: int, mean: float) -> float:
    """The chance that a Poisson variable with this mean is `count` or more."""
    term = below = exp(-mean)
    if count <= 0:
        return 1.0
    for k in range(1, count):
        term *= mean / k
        below += term
    return 1 - below


def _card_of(face: int) -> int:
    """Some card with this number."""
    return next(card for card in range(19) if number(card) == face)
