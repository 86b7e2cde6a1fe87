"""Laws of the matching of marker names."""

from __future__ import annotations

from solver.values.marker_names import match_names

KNOWN = ("C7", "L.ASIS", "L_toe", "R_toe", "LASI")


def test_capitals_and_a_subject_s_prefix_are_ignored() -> None:
    """Names match despite capitals, a prefix ``name:`` or a common ``name_``; unlabelled markers are unchanged."""
    for write in (str.lower, str.upper, "Subject01:{}".format, "Subject_01_{}".format, "S1_{}".format):
        names = [write(name) for name in KNOWN]
        assert match_names([*names, "*100"], KNOWN) == dict(zip(names, KNOWN))
        assert match_names(KNOWN, names) == dict(zip(KNOWN, names))


def test_identical_names_match_first_and_others_if_unique() -> None:
    """Ambiguous names do not match, and a side is not a subject's prefix."""
    assert match_names(["LASI", "lasi"], ["LASI"]) == {"LASI": "LASI"}
    assert match_names(["Anna:LASI", "Ben:LASI"], ["LASI"]) == {}
    assert match_names(["lasi"], ["LASI", "LAsi"]) == {}
    assert match_names(["R_toe", "R_heel"], ["toe", "heel"]) == {}
