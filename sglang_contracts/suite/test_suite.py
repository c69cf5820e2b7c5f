"""What ``pytest --pyargs sglang_contracts.suite`` collects."""

from sglang_contracts.suite.conformance import (  # noqa: F401 - pytest finds them here by name
    sglang_session,
    test_level_0,
    test_level_1,
    test_level_2,
    test_level_3,
    test_level_4,
    test_mutant_is_killed,
    test_planned_checks_ran,
)
