"""Bad input: one clear line, a fitting exit status, never a traceback; and the others play on."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from otto_p2p.cli import main
from otto_p2p.commands import join
from tests.e2e.program import COMMAND, PATIENCE, Terminal, address_of, environment, run, terminals
from tests.e2e.test_play import ALONE


@pytest.mark.parametrize(
    ("arguments", "told"), [("--players=11", "2 to 10 players, not 11"), ("--nonsense", "--nonsense")]
)
def test_an_option_that_cannot_be(arguments: str, told: str, tmp_path: Path) -> None:
    done = run("join", "--data-dir", str(tmp_path), arguments)
    check_refused(done.returncode, done.stdout, done.stderr, told)


def check_refused(status: int, out: str, err: str, told: str) -> None:
    assert status == 2
    assert told in err
    assert err.count("\n") == 1
    assert err.rstrip("\n").isprintable()
    assert out == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--players", "1"], "2 to 10 players, not 1"),
        (["--players", "many"], "invalid int value"),
        (["--decks", "5"], "1 to 4 decks"),
        (["--decks", "1", "--players", "6"], "enough for 5 players"),
        (["--games", "0"], "1 to 99 games"),
        (["--bots", "10"], "0 to 9"),
        (["--bots", "3", "--players", "3"], "no seat left"),
        (["--turn-time", "-1"], "0 to 3600"),
        (["--port", "70000"], "0 to 65535"),
        (["--peer", "[::1:5"], "no address"),
        (["--peer", "host:0"], "no port"),
        (["--name", "é" * 40], "at most 40 bytes"),
        (["--name", "\x1b[2Jx"], r"\x1b[2Jx"),
        (["--name", "Ann\u200b"], "invisible"),
        (["--name", ""], "empty"),
        (["--transcript"], "expected one argument"),
    ],
)
def test_more_options_that_cannot_be(
    arguments: list[str],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same without a process for each."""
    monkeypatch.setattr(join, "join", lambda wanted: pytest.fail(f"accepted: {wanted}"))
    try:
        status = main(["--lang", "en", "join", "--data-dir", str(tmp_path), *arguments])
    except SystemExit as ended:
        status = int(ended.code or 0)
    check_refused(status, *capsys.readouterr(), told)


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("0.0.0.0", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("join", "--plain", "--no-mdns", "--port", str(port), "--data-dir", str(tmp_path))
    assert done.returncode == 1
    assert f"port {port} is taken" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_data_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("join", "--plain", "--data-dir", str(tmp_path / "file" / "x"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


def test_a_peer_that_cannot_be_reached(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with terminals(("join", *ALONE, "--peer", f"127.0.0.1:{port}", "--data-dir", str(tmp_path))) as (one,):
        one.expect(f"127.0.0.1:{port} cannot be reached")
        one.type("q")
        assert one.wait() == 0
        assert "Traceback" not in one.text


def test_a_full_table(tmp_path: Path) -> None:
    """The third is told, and sits at a table of its own; the two play on."""
    two = ("join", *ALONE, "--players", "2")
    with terminals((*two, "--name", "Anna", "--data-dir", str(tmp_path / "a"))) as (anna,):
        address = address_of(anna)
        with terminals(
            (*two, "--name", "Bob", "--peer", address, "--data-dir", str(tmp_path / "b")),
        ) as (bob,):
            anna.expect("Bob sits here")
            bob.expect("Anna sits here")
            with terminals(
                (*two, "--name", "Cy", "--peer", address, "--data-dir", str(tmp_path / "c")),
            ) as (cy,):
                cy.expect("table is full|Another table, 1: .*Anna, Bob|Another table, 1: .*Bob, Anna")
                anna.type("")
                bob.type("")
                for person in (anna, bob):
                    person.expect("Which number do you collect")
                cy.type("q")
                assert cy.wait() == 0


def test_garbage_on_the_port(tmp_path: Path) -> None:
    with terminals(("join", *ALONE, "--bots", "1", "--data-dir", str(tmp_path))) as (one,):
        port = int(address_of(one).rpartition(":")[2])
        for garbage in (b"\xff" * 64, b"GET / HTTP/1.0\r\n\r\n", b"\x00\x00\x00\x05abc", b"") * 5:
            with socket.create_connection(("127.0.0.1", port)) as stranger:
                stranger.sendall(garbage)
        start_game(one)
        assert "Traceback" not in one.text


@pytest.mark.parametrize(
    "content",
    [b"", b"no transcript", b"\x92\xb3otto-p2p transcript\x94", bytes(range(256)) * 20],
    ids=["empty", "text", "cut off", "binary"],
)
def test_verify_of_something_else(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file.otto"
    path.write_bytes(content)
    assert main(["--lang", "en", "verify", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_verify_of_nothing(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.otto", tmp_path):
        done = run("verify", str(path))
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1


def test_output_that_nobody_reads(tmp_path: Path) -> None:
    """`otto-p2p join ... | head -1`: ends in good order, and soon."""
    arguments = ("join", "--bots", "2", "--auto", "--plain", "--no-mdns", "--data-dir", str(tmp_path))
    with subprocess.Popen(
        [str(COMMAND), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 0


def start_game(one: Terminal) -> None:
    one.expect("Press Enter when you are ready")
    one.type("")
    one.expect("Which number do you collect")


@pytest.mark.parametrize("ending", ["q", "ctrl-c", "SIGTERM", "SIGHUP", "eof"])
def test_every_way_of_ending_leaves_the_terminal_as_it_was(ending: str, tmp_path: Path) -> None:
    """Field report 42."""
    with terminals(("join", *ALONE, "--bots", "1", "--data-dir", str(tmp_path))) as (one,):
        start_game(one)
        match ending:
            case "q":
                one.type("q")
                one.type("q")
            case "ctrl-c":
                one.key(b"\x03")
                one.expect("Ctrl-C again")
                one.key(b"\x03")
            case "eof":
                one.key(b"\x04")
            case name:
                one.process.send_signal(getattr(signal, name))
        one.expect("Leaving")
        assert one.wait() == (130 if ending == "ctrl-c" else 0)
        assert one.settings == one.settings_before
        assert "Traceback" not in one.text
