"""Real SGLang on a CPU: stand-ins for what only a GPU has, and real objects of any release.

Importing this package imports neither torch nor SGLang: ask the submodules.

- :mod:`~sglang_contracts.live.shim`: lets a wheel be imported beside CPU torch.
- :mod:`~sglang_contracts.live.build`: makes ``ForwardBatch``, pools, allocators and layers.
- :mod:`~sglang_contracts.live.world`: drives those objects step by step (prefill, decode).
- :mod:`~sglang_contracts.live.differences`: every difference between releases, in one place.
- :mod:`~sglang_contracts.live.record`: recorders for calls, transfers and allocations.
- :mod:`~sglang_contracts.live.engine`: the real engine on a tiny model.
- :mod:`~sglang_contracts.live.trace`: watches it while it serves.
- :mod:`~sglang_contracts.live.facts`: describes what is there, without touching it.
- :mod:`~sglang_contracts.live.evidence`: what runs showed, as files; what that says of a clause.
- :mod:`~sglang_contracts.live.environments`: the shared environment that all this runs in.
"""
