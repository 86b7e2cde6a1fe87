"""Laws of marker names that laboratories write differently."""

from __future__ import annotations

from solver.marker_names import match_names

KNOWN = ("C7", "L.ASIS", "L_toe", "R_toe", "LASI")


def test_a_marker_is_the_same_in_other_capitals_and_behind_a_subject() -> None:
    """Capitals, ``name:`` and a shared ``name_`` matter to nobody; markers that nobody named stay what they are."""
    for write in (str.lower, str.upper, "Subject01:{}".format, "Subject_01_{}".format, "S1_{}".format):
        names = [write(name) for name in KNOWN]
        assert match_names([*names, "*100"], KNOWN) == dict(zip(names, KNOWN))
        assert match_names(KNOWN, names) == dict(zip(KNOWN, names))


def test_a_name_is_itself_first_and_nobody_elses_twice() -> None:
    """Where two recorded names or two known ones could be meant, none is; a side is no subject."""
    assert match_names(["LASI", "lasi"], ["LASI"]) == {"LASI": "LASI"}
    assert match_names(["Anna:LASI", "Ben:LASI"], ["LASI"]) == {}
    assert match_names(["lasi"], ["LASI", "LAsi"]) == {}
    assert match_names(["R_toe", "R_heel"], ["toe", "heel"]) == {}
