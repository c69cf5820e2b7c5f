import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def mutants():
    return TESTS / "mutants"


@pytest.fixture(scope="session")
def fresh():
    """Runs Python in a process of its own: classes of a plugin are bound to one SGLang."""

    def run(*arguments, cwd=None, **variables):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
        return subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            timeout=600,
            cwd=cwd,
            env=environment,
        )

    return run
