"""A reference SGLang plugin for Kunlun accelerators, small enough to read in an hour.

Where to start: `platform` (what SGLang asks the plugin), `backend` (attention), `metadata` (what
is built once a batch), `pool` and `allocator` (the KV cache), `sampler`, `quantization`,
`communicator`. Everything that differs between SGLang releases stands in `compat`, with the
contract clause that states it; everything that touches the vendor's SDK goes through `sdk`.

Stable names, for tests and conformance suites:

- `kunlun_backend.platform.activate()` and `kunlun_backend.hooks.register_all()`, the entry points;
- `kunlun_backend.backend.KunlunAttentionBackend(model_runner)`: works with any object that has
  `device`, `req_to_token_pool` and `token_to_kv_pool`;
- `kunlun_backend.pool.KunlunMHATokenToKVPool`, constructed as SGLang's `MHATokenToKVPool`;
- `kunlun_backend.allocator.KunlunPagedTokenToKVPoolAllocator`, as `PagedTokenToKVPoolAllocator`;
- `kunlun_backend.sampler.sample(logits, sampling_info)`;
- `kunlun_backend.communicator.Communicator(group, algorithm)`.

Importing this package needs neither SGLang nor torch; importing one of those modules does, and
binds the classes to the SGLang (or the fake of it) that is importable at that moment.
"""

BACKEND_NAME = "kunlun"
"""The name under which SGLang knows platform and attention backend."""
