"""Certificates: run the suite on an installed plugin, write down what came out, check it again.

Importing this package imports neither torch nor pytest.
"""

from __future__ import annotations

from sglang_contracts.certify.certificate import Certificate, canonical, load_certificate
from sglang_contracts.certify.run import Order, certify
from sglang_contracts.certify.verify import Verification, verify

__all__ = [
    "Certificate",
    "Order",
    "Verification",
    "canonical",
    "certify",
    "load_certificate",
    "verify",
]
