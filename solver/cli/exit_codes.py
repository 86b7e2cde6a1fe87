"""Exit codes of the command line.

0: what was requested was delivered.
1: results are written or printed, and are not what was requested: a dance or a motion that is not feasible, fewer
   postures than requested, failures that no repair removed, subjects that failed. ``status`` in summary.json is one of
   `scene.summary.Status`. Also a defect of this program, with its traceback.
2: wrong input or arguments, or an output that cannot be written; one line names it.
130: stopped by the user; nothing half-written is left.
"""

from __future__ import annotations

OK, INCOMPLETE, WRONG_INPUT = 0, 1, 2
