"""The named choices that algorithms offer (no imports: commands read this before anything)."""

from __future__ import annotations

from typing import Literal

Scope = Literal["sensitive", "all"]
"""Which nouns and verbs are attributes."""

Distance = Literal["jaccard", "printed"]
"""Eq. 8 as Table 3 has it, or as printed."""

Method = Literal["adaptive", "paper", "mdav", "vmdav"]
"""How clusters are formed."""

Guarantee = Literal["strict", "terms", "paper"]
"""What a release promises."""

Time = Literal["month", "day", "hour", "none"]
"""The finest time that is ever published."""

Language = Literal["auto", "en"]
"""What queries are in: measured, or said; one for each WordNet that can be read."""

Runner = Literal["local", "dask"]
"""Where parts of a run are done: in processes of this machine, or on Dask."""

Counting = Literal["none", "dp"]
"""Whether counts of words and concepts are published beside the rows."""
