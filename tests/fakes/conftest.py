"""A fake is taken out after each test; some plugins are made on the spot."""

import sys
import textwrap

import pytest

from sglang_contracts import fakes


@pytest.fixture
def fake(request):
    """The release named by the test's ``release`` parameter, or 0.5.16, in place of ``sglang``."""
    release = getattr(request, "param", "0.5.16")
    with fakes.install(release) as placed:
        yield placed.fake


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """Makes an installed distribution with one module and entry points."""
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def make(name, source, **entry_points):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        groups = {"platform": "sglang.srt.platforms", "plugin": "sglang.srt.plugins"}
        lines = [
            f"[{groups[group]}]\n{name} = {name}:{function}\n"
            for group, function in entry_points.items()
        ]
        (info / "entry_points.txt").write_text("".join(lines))
        made.append(name)

    yield make
    for name in made:
        sys.modules.pop(name, None)
