"""Whether a ratio is the same at several levels, so that one figure may stand for all of them.

Each level has its log ratio in each block. The levels' means are tested by the analysis of variance
of randomised blocks (Fisher 1925, *Statistical Methods for Research Workers*; Snedecor and Cochran,
*Statistical Methods*, 14): F is the mean square between levels over the residual one. What a block
adds to all levels cancels. Cochran's Q takes the variances within levels as known, which of five
blocks they are not: it would speak against levels that are the same in 26 % of simulated suites of
20 levels, and Welch's correction of it in 17 % of those of three blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from wiretrial.stats.occasions import units

ALPHA = 0.05


def p_value(levels: Sequence[Sequence[float]], occasions: Sequence[int] = ()) -> float:
    """The probability of levels that lie so far apart where all are the same.

    `levels`: a row of log ratios per level, a column per block; two of each or more. `occasions`:
    on which one each block was measured; left out: all on the same. A day may add another share to
    each level, and its blocks have it in common: of several occasions, each is one column.
    """
    levels = [units(row, occasions) for row in levels]
    rows, columns = len(levels), len(levels[0])
    if rows < 2 or columns < 2:
        raise ValueError("two levels and two blocks are needed")
    grand = fmean(map(fmean, levels))
    by_level = [fmean(row) - grand for row in levels]
    by_block = [fmean(column) - grand for column in zip(*levels, strict=True)]
    between = columns * sum(effect**2 for effect in by_level)
    residual = sum(
        (value - grand - level - block) ** 2
        for row, level in zip(levels, by_level, strict=True)
        for value, block in zip(row, by_block, strict=True)
    )
    # Rounding alone is no scatter.
    least = 1e-24 * (grand**2 + between + 1e-12)
    if residual <= least:
        return 1.0 if between <= least else 0.0
    # Most commands need no statistics, and the import would be half of their start-up time.
    from scipy.special import fdtrc

    degrees = rows - 1, (rows - 1) * (columns - 1)
    return float(fdtrc(*degrees, (between / degrees[0]) / (residual / degrees[1])))
