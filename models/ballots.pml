/* Removing seats by ballots in two phases (docs/protocol.md, section 12): SEATS honest seats, one view.
 *
 * At first anything happens: a seat votes when it likes, in which later round it likes, suspects whom it likes,
 * and has seen what it likes of the others' ballots: they are as late as can be, or lost. Who has voted for an
 * agreement knows it from then on; that nothing else is remembered only adds behaviour. Then some seats crash
 * (any of them, or none), all that was sent arrives, silence is seen for what it is, and the rest vote, in any
 * order, for as long as a ballot is due.
 *
 * Checked: two finals never differ; and in the end there is one if those who are left are a quorum, and anybody
 * has crashed or voted.
 *
 * Abstracted: a seat stands at one of two places in the log (the message of the step that is late has arrived
 * there, or not), and a proposal is a place and whom to go on without. While anything happens, two proposals are to
 * be had, any of them. Not in it: LEAVE and convictions (so `excluded` is empty), seats that sign what no
 * honest seat signs, more than ROUNDS rounds before things calm down.
 *
 * -D ONE_PHASE, NO_LOCK, ANY_HALF or GONE_SILENT breaks the rule, to see that the check fails then.
 */
#define CALM 5  /* after things have calmed down, all is settled within so many rounds */
#define LAST (ROUNDS + CALM)
#define MENU 2  /* proposals while anything happens; one more is what all propose in the end */
#define PROPOSALS (MENU + 1)
#define CODES (2 << SEATS)

byte gone[PROPOSALS];          /* a bit for each seat */
bool late[PROPOSALS];          /* whether the message that is late has arrived where this is proposed */
byte ballot[SEATS * LAST];     /* the proposal (1 on; 0: no ballot) + 8 * the round that is cited */
byte last[SEATS];              /* the round of the last ballot; 0: none */
byte agreed[LAST + 1];         /* by round: a bit for each proposal */
byte final;                    /* the proposal that opened the next view (1 on) */
byte split;                    /* ... and another one that did */
byte alive, calm;              /* who has not crashed; what these propose */
byte seat, round, cite, what;  /* of the next ballot */
short pick, number;            /* which one of how many; what the C code below has answered */

c_code {
    extern State now;
    enum { everybody = (1 << SEATS) - 1 };

    static int voted(int seat, int round) { return (now.ballot[seat * LAST + round - 1] & 7) - 1; }
    static int cited(int seat, int round) { return now.ballot[seat * LAST + round - 1] >> 3; }
    static int lock(int seat) { return now.last[seat] ? cited(seat, now.last[seat]) : 0; }

    static int is_quorum(int set) {
        int size = __builtin_popcount(set);
#ifdef ANY_HALF
        return 2 * size >= SEATS;
#else
        return 2 * size > SEATS || (SEATS >= 4 && 2 * size == SEATS && (set & 1));
#endif
    }

    /* Who voted for a proposal in this round (and cited `cite`; -1: whatever). */
    static int voters(int what, int round, int cite) {
        int seat, set = 0;
        for (seat = 0; seat < SEATS; seat++)
            if (voted(seat, round) == what && (cite < 0 || cited(seat, round) == cite)) set |= 1 << seat;
        return set;
    }

    static void found_final(int what) {
        if (now.final && now.final != what + 1) now.split = what + 1;
        else now.final = what + 1;
    }

    static void vote(int seat, int round, int cite, int what) {
        int p, r, so_far;
        now.ballot[seat * LAST + round - 1] = what + 1 + 8 * cite;
        now.last[seat] = round;
        for (p = 0; p < PROPOSALS; p++) {
            for (r = 1, so_far = 0; r <= LAST; r++) {
                so_far |= voters(p, r, -1);
                if (is_quorum(voters(p, r, -1)) && !(everybody & ~now.gone[p] & ~so_far)) {
                    now.agreed[r] |= 1 << p;
#ifdef ONE_PHASE
                    found_final(p);
#endif
                }
                if (r > 1 && (now.agreed[r - 1] >> p & 1) && is_quorum(voters(p, r, r - 1))) found_final(p);
            }
        }
    }

    /* A proposal as a number, with two seats exchanged. */
    static int exchanged(int code, int a, int b) {
        int set = code >> 1, differ = (set >> a ^ set >> b) & 1;
        return (set ^ (differ << a | differ << b)) << 1 | (code & 1);
    }

    /* Whether two proposals are a menu: each pair once, and of pairs that differ only in the names of seats (the
       lowest one keeps its name) the first. Without a quorum of seats that stay nothing is ever agreed. */
    static int is_menu(int one, int other) {
        int a, b;
        if (one >= other || !is_quorum(everybody & ~(one >> 1)) || !is_quorum(everybody & ~(other >> 1))) return 0;
        for (a = 1; a < SEATS; a++)
            for (b = a + 1; b < SEATS; b++) {
                int x = exchanged(one, a, b), y = exchanged(other, a, b);
                int low = x < y ? x : y, high = x < y ? y : x;
                if (low < one || (low == one && high < other)) return 0;
            }
        return 1;
    }

    static int choose_menu(int number) {
        int one = number / CODES, other = number % CODES;
        if (!is_menu(one, other)) return 0;
        now.gone[0] = one >> 1; now.late[0] = one & 1;
        now.gone[1] = other >> 1; now.late[1] = other & 1;
        return 1;
    }

    /* Whether an honest seat may sign this, whatever it has seen. */
    static int may_vote(int seat, int round, int cite, int what) {
        if (round <= now.last[seat] || cite >= round) return 0;
        if (cite) return cite >= lock(seat) && (now.agreed[cite] >> what & 1);
#ifndef NO_LOCK
        if (lock(seat)) return 0;
#endif
        if (now.gone[what] >> seat & 1) return 0;
        return !now.last[seat] || now.late[what] >= now.late[voted(seat, now.last[seat])];
    }

    /* How many ballots might be signed now; number `pick` of them is in now.seat and so on then. */
    static int ballots(int pick) {
        int seat, round, cite, what, count = 0;
        for (seat = 0; seat < SEATS; seat++)
            for (round = 1; round <= ROUNDS; round++)
                for (cite = 0; cite < round; cite++)
                    for (what = 0; what < MENU; what++)
                        if (may_vote(seat, round, cite, what) && count++ == pick) {
                            now.seat = seat; now.round = round; now.cite = cite; now.what = what;
                        }
        return count;
    }

    /* All has arrived: what everybody stands at and proposes from now on. */
    static void calm_down(void) {
        int seat, p;
        for (seat = 0; seat < SEATS; seat++)
            if ((now.alive >> seat & 1) && now.last[seat]) now.late[MENU] |= now.late[voted(seat, now.last[seat])];
        now.gone[MENU] = everybody & ~now.alive;
        now.calm = MENU;
        for (p = 0; p < MENU; p++)
            if (now.gone[p] == now.gone[MENU] && now.late[p] == now.late[MENU]) now.calm = p;
    }

    /* Whether this seat has a ballot to sign ("When to vote"); it is in now.round, now.cite, now.what then. */
    static int is_due(int seat) {
        int other, r, highest = 0, known = 0, mine = now.last[seat], due;
        if (!(now.alive >> seat & 1)) return 0;
        for (other = 0; other < SEATS; other++) if (now.last[other] > highest) highest = now.last[other];
        for (r = 1; r <= LAST; r++) if (now.agreed[r]) known = r;
        if (known) {
            now.what = __builtin_ctz(now.agreed[known]);
            due = !mine || lock(seat) < known || highest > mine;
#ifdef GONE_SILENT
            due = due && !(now.gone[now.what] >> seat & 1);
#endif
            if (highest == mine || highest <= known) highest = known + 1;
        } else {
            if (!now.gone[now.calm] && !highest) return 0;  /* nobody is missed, nobody has voted */
            now.what = now.calm;
            due = !mine || voted(seat, mine) != now.what || highest > mine;
        }
        now.cite = known;
        now.round = highest > mine ? highest : mine + 1;
        if (!due) now.round = now.cite = now.what = 0;
        return due;
    }

    /* The same of those that are due. */
    static int due_ballots(int pick) {
        int seat, count = 0;
        for (seat = 0; seat < SEATS; seat++) if (is_due(seat) && count++ == pick) { now.seat = seat; return 1; }
        now.round = now.cite = now.what = 0;
        return count;
    }

    static int is_settled(void) {
        int seat, quiet = !now.gone[now.calm];
        for (seat = 0; seat < SEATS; seat++) quiet = quiet && !now.last[seat];
        return now.final || quiet || !is_quorum(now.alive);
    }
}

inline sign() {
    assert(round <= LAST);
    c_code { vote(now.seat, now.round, now.cite, now.what); };
    assert(!split);
    seat = 0; round = 0; cite = 0; what = 0; pick = 0; number = 0
}

init {
    atomic {                                    /* a menu */
        select(number : 0 .. (CODES * CODES - 1));
        c_code { now.number = choose_menu(now.number); };
        if :: number -> number = 0 :: else -> goto done fi
    };

    do
    :: atomic {                                 /* anything happens, also after a final that not all know of */
        c_code { now.number = ballots(-1); };
        if
        :: number > 0 ->
            select(pick : 0 .. (number - 1));
            c_code { ballots(now.pick); };
            sign()
        :: else -> number = 0; break
        fi }
    :: break
    od;
#ifdef SPLITS
    goto done;
#endif
    if :: final -> goto done :: else fi;

    atomic {                                    /* things calm down */
        select(alive : 0 .. ((1 << SEATS) - 1));
        if :: late[MENU] = 0 :: late[MENU] = 1 fi;
        c_code { calm_down(); }
    };

    do
    :: atomic {
        c_code { now.number = now.final ? 0 : due_ballots(-1); };
        if
        :: number > 0 ->
            select(pick : 0 .. (number - 1));
            c_code { due_ballots(now.pick); };
            sign()
        :: else -> break
        fi }
    od;
    c_code { now.number = is_settled(); };
    assert(number);
done:
    skip
}
