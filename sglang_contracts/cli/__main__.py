"""``python -m sglang_contracts.cli``: the same as the command."""

import sys

from sglang_contracts.cli import main

sys.exit(main())
