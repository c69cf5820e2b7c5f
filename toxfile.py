"""tox environments for every recorded release: ``sglang-<release>``.

tox refuses a name that no configuration lists. The list is ``matrix/releases.toml``, so that adding
a release there is all it takes. What the environments share stands in ``tox.ini`` under
``[live]``; here only what differs: the name, the wheel, the labels.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from tox.config.loader.memory import MemoryLoader
from tox.config.sets import ConfigSet
from tox.plugin import impl
from tox.session.state import State

sys.path.insert(0, str(Path(__file__).parent / "sglang_contracts" / "live"))
try:
    import environments
finally:
    del sys.path[0]


@impl
def tox_extend_envs() -> Iterable[str]:
    """Name an environment for each recorded release."""
    return [f"sglang-{release}" for release in environments.releases()]


@impl
def tox_add_core_config(core_conf: ConfigSet, state: State) -> None:
    """Give each of them its wheel and its labels."""
    for release in environments.releases():
        sections = ["live", "testenv"]
        if not environments.has_registry(release):
            sections.insert(0, "live-builders")
        state.conf.memory_seed_loaders[f"sglang-{release}"].append(
            MemoryLoader(
                base=sections,
                deps=f"sglang=={release}",
                labels=set(environments.labels(release)),
                description=f"contracts, builders and engine on SGLang {release}",
            )
        )
