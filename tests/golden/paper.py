"""Tables 2–4 and Example 5 as printed; errata are said beside the value."""

from __future__ import annotations

import numpy as np

# Table 2, one row per attribute of the first record of the caption, columns of the second.
TABLE_2A = np.array([[0.8, 0.4, 0.3], [0.2, 0.7, 0.6], [0.6, 0.1, 0.5], [0.1, 0.8, 0.6]])
TABLE_2B = np.array([[0.3, 0.2, 0.3], [0.1, 0.8, 0.4], [0.6, 0.2, 0.6], [0.9, 0.4, 0.1]])
TABLE_2C = np.array(
    [[0.6, 0.2, 0.8, 0.4], [0.5, 0.2, 0.7, 0.5], [0.5, 0.3, 0.7, 0.3], [0.4, 0.6, 0.1, 0.6]]
)

# Table 3: rows q1 … q9 right of the diagonal. (q5, q10) is 0.75 here and 0.57 in Table 4.
TABLE_3 = [
    [0.50, 0.33, 0.88, 1.0, 0.88, 0.88, 0.11, 0.88, 0.75],
    [0.40, 0.75, 0.88, 1.0, 0.88, 0.57, 0.57, 0.75],
    [0.75, 1.0, 0.75, 0.88, 0.38, 0.88, 0.88],
    [0.57, 1.0, 0.88, 0.88, 0.88, 0.57],
    [0.75, 0.75, 1.0, 0.57, 0.75],
    [0.75, 0.88, 0.88, 0.75],
    [0.75, 0.75, 1.0],
    [0.88, 0.75],
    [0.75],
]

# Table 4 as printed, queries counted from 1.
TABLE_4 = {
    (1, 8): 0.11,
    (2, 3): 0.40,
    (3, 8): 0.38,
    (4, 10): 0.57,
    (4, 5): 0.57,
    (5, 10): 0.57,  # erratum: Table 3 has 0.75, so it is not least of its row there
    (5, 9): 0.57,
    (6, 10): 0.75,
    (6, 7): 0.75,
    (7, 8): 0.75,
    (7, 9): 0.75,
    (8, 10): 0.75,
    (9, 10): 0.75,
}
ERRATUM = (5, 10)
EXAMPLE_5 = [{1, 2, 3, 8}, {6, 7, 9, 10}, {4, 5}]
