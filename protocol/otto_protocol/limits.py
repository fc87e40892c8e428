"""The numbers that several parts of the protocol must agree on, each in one place."""

from __future__ import annotations

CARDS_PER_DECK = 76  # T1
HAND = 12  # T2
MAX_DECKS = 4  # R1
MIN_SEATS, MAX_SEATS = 2, 10  # R2
MAX_CARDS = MAX_DECKS * CARDS_PER_DECK
STEPS_KEPT = 64  # finished steps that a seat can go back to: nobody is convicted for an older one
