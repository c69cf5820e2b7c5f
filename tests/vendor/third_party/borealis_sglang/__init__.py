"""A plugin shaped like the public ones: everything comes from the platform, nothing is its own.

It registers in ``init_backend()``, names its class with a colon, brings kernels as torch operators
and takes SGLang's own pool and allocator.
"""
