"""How the lists of the world's names are made."""

from __future__ import annotations

import itertools
from pathlib import Path

from tasks.core.detection.name_shapes import ANY, grams, shape_of
from tests.detection.world_names import bearers, is_tenth, listed, weigh, write_list, write_weights


def test_a_name_counts_for_everybody_who_bears_it() -> None:
    counted = bearers(
        ["Ana Peña", "ana maria pena", "Ana (singer) Peña", "Pelé", "Ana O'Dea-Smith"]
    )
    assert counted.first == {"ana": 3}
    assert counted.last == {"pena": 2, "smith": 1}


def test_listed_is_what_several_bear_and_english_hardly_has() -> None:
    names = {"zorbova": 3, "rare": 2, "known": 9, "usual": 3, "borne": 30, "x y": 9}
    assert listed(names, {"known"}, {"usual": 1000.0, "borne": 1000.0}) == ["borne", "zorbova"]


def test_weights_tell_names_from_words() -> None:
    stems = ["".join(own) for own in itertools.product("bdgk", "aeo", "rl")]
    weights = weigh([f"{stem}ova" for stem in stems], [f"{stem}ing" for stem in stems], rare=2)
    shapes = {gram: weight / 10 for gram, weight in weights.items()}
    assert shape_of("zimova", shapes) > 1 > -1 > shape_of("ziming", shapes)
    assert weights["ova$"] > 0 > weights["ing$"]
    assert "zi" not in weights


def test_letters_in_a_row() -> None:
    assert grams("ab") == ["^a", "ab", "b$", "^ab", "ab$", "^ab$"]
    assert shape_of("ab", {ANY: 1.0, "^a": 2.0, "b$": -0.5, "xy": 9.0}) == 2.5


def test_lists_are_written_in_order(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    write_list(path, "# head\n", ["aal", "abo", "bea"])
    assert path.read_text() == "# head\naal abo\nbea\n"
    write_weights(path, "# head\n", {ANY: -3, "b$": 2, "ab": 2, "^a": -1})
    assert path.read_text() == "# head\n-3\n-1 ^a\n2 ab b$\n"


def test_a_tenth_is_a_tenth() -> None:
    assert 80 < sum(is_tenth(f"person {number}") for number in range(1000)) < 120
