"""The command line, and the place where everything is put together.

Only argparse is imported before it is known what to do: `--help` and `--version` are instant.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Never

from otto_p2p import i18n
from otto_p2p.exits import FAILED, INTERRUPTED, USAGE
from otto_p2p.i18n import N_, _

ARGPARSE = (
    N_("usage: "),
    N_("options"),
    N_("positional arguments"),
    N_("show this help message and exit"),
    N_("the following arguments are required: %s"),
    N_("unrecognized arguments: %s"),
    N_("expected one argument"),
    N_("argument %(argument_name)s: %(message)s"),
    N_("invalid %(type)s value: %(value)r"),
    N_("invalid choice: %(value)r (choose from %(choices)s)"),
    N_("ignored explicit argument %r"),
)
"""Texts of argparse, which translates them itself."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status. What goes wrong is one line on stderr."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    i18n.use(_language(given))
    parser = _parser()
    options = parser.parse_args(given)
    i18n.use(options.lang)
    from otto_protocol import LocalError

    try:
        return _run(parser, options)
    except LocalError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads any more (`otto-p2p rules | head`); keep Python from flushing into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _language(given: Sequence[str]) -> str | None:
    """The language in the arguments, before they are parsed: their help is translated too."""
    for place, argument in enumerate(given):
        if argument == "--lang":
            return given[place + 1] if place + 1 < len(given) else None
        if argument.startswith("--lang="):
            return argument.partition("=")[2]
    return None


def _fail(text: str, status: int = FAILED) -> int:
    from otto_p2p.texts.safe import safe

    print(f"otto-p2p: {safe(text)}", file=sys.stderr)
    return status


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    match options.command:
        case "join":
            from otto_p2p.commands import join

            try:
                wanted = join.checked(options)
            except join.UsageError as error:
                return _fail(str(error), USAGE)
            return join.join(wanted)
        case "tables":
            from otto_p2p.commands import tables

            return tables.tables(as_json=options.json)
        case "doctor":
            from otto_p2p.commands import doctor

            return doctor.doctor(options.peer, options.data_dir, options.seconds, as_json=options.json)
        case "verify":
            from otto_p2p.commands import verify

            check = verify.verify_evidence if options.evidence else verify.verify
            return check(options.file)
        case "history":
            from otto_p2p.commands.history import history
            from otto_p2p.storage.folders import data_folder

            return history(data_folder(options.data_dir), as_json=options.json)
        case "rules":
            from otto_p2p.texts.rules import rules_text

            sys.stdout.write(rules_text())
            return 0
        case "bench":
            from otto_p2p.commands import bench

            if options.game:
                from otto_p2p.commands import bench_game

                return bench_game.run(options.json)
            return bench.run(options.json)
        case _:
            parser.print_help()
            return USAGE


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> Never:
        """Exit with the message alone."""
        text = _("{problem} (see {program} --help)").format(problem=message, program=self.prog)
        self.exit(_fail(text, USAGE))


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        from importlib.metadata import version

        print(f"otto-p2p {version('otto-p2p')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="otto-p2p",
        description=_("The card game Otto on a LAN: no server, no dealer, and nobody has to be trusted."),
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help=_("show the version and exit"))
    language = _Parser(add_help=False)
    # SUPPRESS: a subcommand must not undo what was said before it.
    language.add_argument(
        "--lang", choices=i18n.LANGUAGES, default=argparse.SUPPRESS, help=_("language of all texts")
    )
    parser.add_argument("--lang", choices=i18n.LANGUAGES, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", metavar=_("COMMAND"), title=_("commands"))

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=[language], allow_abbrev=False)

    _add_join(command("join", _("sit down at a table on this LAN, or open one, and play")))
    tables = command("tables", _("show who is on this LAN"))
    tables.add_argument("--json", action="store_true", help=_("as JSON"))
    doctor = command("doctor", _("find out why a game does not come about, and what to do"))
    doctor.add_argument(
        "--peer", action="append", default=[], metavar="HOST[:PORT]", help=_("try this address, too")
    )
    doctor.add_argument(
        "--seconds",
        type=float,
        default=8.0,
        metavar=_("S"),
        help=_("how long to look for others (default: 8)"),
    )
    doctor.add_argument("--json", action="store_true", help=_("as JSON"))
    doctor.add_argument("--data-dir", metavar=_("DIR"), help=_("where keys and matches are kept"))
    verify = command("verify", _("check the transcript of a match"))
    verify.add_argument("file", metavar=_("FILE"), help=_("a transcript that otto-p2p has written"))
    verify.add_argument(
        "--evidence", action="store_true", help=_("the file is evidence against a seat: who is convicted?")
    )
    history = command("history", _("show the matches that are over"))
    history.add_argument("--json", action="store_true", help=_("as JSON"))
    history.add_argument("--data-dir", metavar=_("DIR"), help=_("where keys and matches are kept"))
    command("rules", _("show the rules of Otto"))
    bench = command("bench", _("measure the cryptography on this machine"))
    bench.add_argument("--json", action="store_true", help=_("as JSON"))
    bench.add_argument("--game", action="store_true", help=_("a whole game of four built-in players"))
    return parser


def _add_join(join: argparse.ArgumentParser) -> None:
    join.add_argument("table", nargs="?", metavar=_("TABLE"), help=_("name of the table to join"))
    join.add_argument("--name", metavar=_("NAME"), help=_("what the others call you (at most 40 bytes)"))
    join.add_argument("--new", action="store_true", help=_("open a table of your own"))
    join.add_argument(
        "--players", type=int, metavar=_("N"), help=_("how many play, 2 to 10; with --auto: start then")
    )
    join.add_argument("--decks", type=int, metavar=_("D"), help=_("decks of 76 cards, 1 to 4 (default: 2)"))
    join.add_argument("--games", type=int, metavar=_("G"), help=_("games in a match, 1 to 99 (default: 1)"))
    join.add_argument(
        "--turn-time",
        type=int,
        metavar=_("S"),
        help=_("seconds for each move, 0 for no clock (default: 120)"),
    )
    join.add_argument(
        "--no-memory", action="store_true", help=_("a table at which no screen shows which cards were seen")
    )
    join.add_argument(
        "--grace",
        type=int,
        default=150,
        metavar=_("S"),
        help=_("seconds to wait for somebody who is gone before the others go on (default: 150)"),
    )
    join.add_argument("--bots", type=int, default=0, metavar=_("K"), help=_("seat K built-in players"))
    join.add_argument("--auto", action="store_true", help=_("let the built-in player play your seat"))
    join.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help=_("somebody at the table, where discovery finds nobody; may be repeated"),
    )
    join.add_argument(
        "--port", type=int, metavar=_("P"), help=_("TCP port to listen on (default: a free one)")
    )
    join.add_argument("--no-mdns", action="store_true", help=_("neither look for others nor be found"))
    join.add_argument(
        "--relay", action="store_true", help=_("play also with people that are reached only through others")
    )
    join.add_argument("--plain", action="store_true", help=_("plain lines of text instead of a full screen"))
    join.add_argument("--transcript", metavar=_("FILE"), help=_("where to write the transcript"))
    join.add_argument("--data-dir", metavar=_("DIR"), help=_("where keys and matches are kept"))


if __name__ == "__main__":
    sys.exit(main())
