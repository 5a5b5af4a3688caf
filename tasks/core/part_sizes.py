"""How large the parts are into which the work of a run is cut.

Results of everything but clustering are the same whatever these are; rows and clusters are looked
for within parts of a log, so their size decides which are found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PartSizes:
    """The most that a part holds of what it is counted in; each is about a second of work.

    Attributes:
        sets_per_block: distinct sets that are clustered together.
        pairs_per_part: pairs of sets that are compared, more if many share much.
        matches_per_part: pairs of sets, given one by one, that are matched.
        sets_per_part: sets that are held against all candidates for the centre of a log.
        units_per_part: queries of people that look for rows together.
        rows_per_part: different rows, before and after, whose loss is measured.
        concepts_per_part: concepts whose distances to all others are measured at a time.
    """

    sets_per_block: int = 4000
    pairs_per_part: int = 50_000_000
    matches_per_part: int = 250_000
    sets_per_part: int = 25_000
    units_per_part: int = 100_000
    rows_per_part: int = 500_000
    concepts_per_part: int = 1024


PART_SIZES: Final = PartSizes()
"""What a run takes if nothing else is asked for."""
