"""Level 5: a real server, asked over HTTP the way its users will ask it.

- :mod:`~sglang_contracts.serving.server` starts a server and ends it, whatever happens;
- :mod:`~sglang_contracts.serving.client` asks it;
- :mod:`~sglang_contracts.serving.checks` are the checks, :mod:`~sglang_contracts.serving.run` runs
  them;
- :mod:`~sglang_contracts.serving.report` is what came out, and
  :mod:`~sglang_contracts.serving.page` shows it.

Importing this package imports neither torch nor SGLang.
"""
