"""What engine runs showed, as small committed files, and what these say of each clause.

``matrix/evidence/<release>.json`` is distilled from the traces of real engine runs
(:mod:`~sglang_contracts.live.trace`): a few sample batches of each kind, the calls that SGLang and
the plugin made on each other's objects, what these objects and their classes have.
``<release>.<what>.json`` beside it holds a further run of that release. The files hold facts, not
verdicts: :func:`confirm` holds a contract against one at any time, without SGLang.

Nothing that this project's own builder made may enter such a file, and what the plugin's code sets
on an object of its own is noted as such: it proves nothing on SGLang.
"""

from __future__ import annotations

from sglang_contracts.live.evidence.distil import WATCHED, distil, wanted
from sglang_contracts.live.evidence.files import dump, load, load_all, save
from sglang_contracts.live.evidence.judge import Confirmation, Status, confirm
from sglang_contracts.live.evidence.model import FORMAT, Batch, Call, Evidence, Object, Read
from sglang_contracts.live.evidence.totals import Counts, Row, counts, table, unlisted
from sglang_contracts.live.evidence.values import mismatch

__all__ = [
    "FORMAT",
    "WATCHED",
    "Batch",
    "Call",
    "Confirmation",
    "Counts",
    "Evidence",
    "Object",
    "Read",
    "Row",
    "Status",
    "confirm",
    "counts",
    "distil",
    "dump",
    "load",
    "load_all",
    "mismatch",
    "save",
    "table",
    "unlisted",
    "wanted",
]
