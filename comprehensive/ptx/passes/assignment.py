"""The assignment of rows to places whose sum of costs is least: the minimum-cost perfect matching.

In: a square matrix of costs.  Out: the column of each row::

    assignment([[4, 1], [2, 0]])      # (1, 0): 1 + 2 is less than 4 + 0

The algorithm of Kuhn and Munkres with shortest augmenting paths, O(n^3), on numpy rows; the integers are exact.
scipy has it as ``linear_sum_assignment``, but nothing else here needs scipy: tens of megabytes to install, with a
linear algebra library of its own, for the thirty lines below, which brute force checks.  Of several best answers the
same one comes out everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def assignment(costs: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the columns of a perfect matching whose sum of costs is least."""
    count = len(costs)
    matrix = np.array(costs, np.int64).reshape(count, count)
    # Potentials: matrix[i, j] >= of_row[i] + of_column[j], with equality where i has j.
    of_row, of_column = np.zeros(count, np.int64), np.zeros(count, np.int64)
    owner = np.full(count, -1)
    for new in range(count):
        distance = np.full(count, np.iinfo(np.int64).max)
        before = np.full(count, -1)
        is_open = np.ones(count, bool)
        reached: list[int] = []
        row, column, so_far = new, -1, 0
        while row >= 0:
            through = so_far + matrix[row] - of_row[row] - of_column
            shorter = is_open & (through < distance)
            distance[shorter], before[shorter] = through[shorter], column
            column = int(np.flatnonzero(is_open)[np.argmin(distance[is_open])])
            is_open[column] = False
            reached.append(column)
            so_far, row = int(distance[column]), int(owner[column])
        of_row[new] += so_far
        for each in reached[:-1]:
            of_row[owner[each]] += so_far - distance[each]
            of_column[each] -= so_far - distance[each]
        while column >= 0:
            last = int(before[column])
            owner[column] = owner[last] if last >= 0 else new
            column = last
    return tuple(int(each) for each in np.argsort(owner))
