"""The bench runs, counts what it should, and prints both forms."""

from __future__ import annotations

import json

import pytest

from otto_p2p.commands import bench


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "CARDS", 12)
    monkeypatch.setattr(bench, "ROUNDS", 1)
    monkeypatch.setattr(bench, "HAND", 1)
    monkeypatch.setattr(bench, "_cpu", lambda action: (action(), 0.001)[1])


def test_json_has_a_row_for_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run(json=True) == 0
    shown = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in shown["rows"]}
    assert {"shuffle", "prove", "verify, one", "verify, chain of 4", "verify shares"} <= set(rows)
    assert {"heal, 4 to 3 players", "heal, 10 to 9 players"} <= set(rows)
    assert all(row["seconds"] > 0 for row in rows.values())
    assert rows["prove"]["bytes"] == 163 * 12 + 293
    # every action takes 1 ms here, so t is 1/12 ms and the ratio is what is left of 12 t over the
    # multiplications
    assert rows["verify, one"]["ratio"] == pytest.approx(1 / 7.9)
    assert rows["verify, chain of 4"]["ratio"] == pytest.approx(1 / 23)


def test_the_table_has_the_limits_beside(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run(json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("12 cards")
    assert any("limit" in line for line in lines)
    assert next(line for line in lines if line.startswith("prove ")).split()[3] == "1.30"


def test_a_refused_proof_is_no_measurement() -> None:
    with pytest.raises(AssertionError, match="refused"):
        bench._expect(False)
