"""A detached signature of a certificate, made and checked by the user's own ``ssh-keygen``.

Nothing here is cryptography: OpenSSH signs (``ssh-keygen -Y sign``) and checks
(``ssh-keygen -Y verify``) with the keys that a team signs its commits with. Who is believed stands
in a file of allowed signers, as ``git`` has it (``ALLOWED SIGNERS`` in ssh-keygen's manual).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from sglang_contracts.errors import ContractsError
from sglang_contracts.files import read_regular

NAMESPACE = "sglang-contracts"
"""What the signature is for: one of a commit or of another file is none of a certificate."""

_MAX_BYTES = 1 << 20
_SECONDS = 300
"""It may ask for a passphrase."""


def place_of(certificate: Path) -> Path:
    """Where a certificate's signature stands, if it is not said."""
    return certificate.with_name(f"{certificate.name}.sig")


def signed(data: bytes, key: Path) -> bytes:
    """The signature of ``data``.

    Args:
        data: A certificate's bytes.
        key: A private key, or the public one where an agent holds the private one.

    Raises:
        ContractsError: There is no ``ssh-keygen``, no such key, or it cannot sign.
    """
    if not key.is_file():
        raise ContractsError(f"there is no key {key}", "name the file of an SSH key")
    done = _ssh_keygen(["-Y", "sign", "-f", str(key.resolve()), "-n", NAMESPACE], data)
    if done.returncode or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE"):
        raise ContractsError(
            f"ssh-keygen could not sign with {key}: {_told(done)}", "try: ssh-keygen -Y sign"
        )
    return done.stdout


def signer_of(data: bytes, signature: Path, allowed: Path, wanted: str = "") -> str:
    """Who has signed ``data``; empty: nobody who is allowed to.

    Args:
        data: A certificate's bytes.
        signature: The file of the signature.
        allowed: The file of allowed signers.
        wanted: Who must have; empty: any of those.

    Raises:
        ContractsError: There is no ``ssh-keygen``, or one of the files cannot be read.
    """
    for file in (signature, allowed):
        try:
            read_regular(file, _MAX_BYTES)
        except OSError as error:
            hint = "sign with --sign KEY; ssh-keygen's manual says what ALLOWED SIGNERS are"
            raise ContractsError(f"cannot read {file}: {error.strerror}", hint) from None
    files = ["-s", str(signature.resolve()), "-f", str(allowed.resolve())]
    names = [wanted]
    if not wanted:
        told = _ssh_keygen(["-Y", "find-principals", *files], data)
        names = told.stdout.decode(errors="replace").splitlines() if not told.returncode else []
    for name in names:
        if name and not name.startswith("-"):
            asked = ["-Y", "verify", *files, "-I", name, "-n", NAMESPACE]
            if not _ssh_keygen(asked, data).returncode:
                return name
    return ""


def _ssh_keygen(arguments: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise ContractsError("there is no ssh-keygen here", "install OpenSSH")
    try:
        return subprocess.run(  # noqa: S603 - the user's own OpenSSH
            [program, *arguments], input=data, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ContractsError(f"ssh-keygen could not be run: {error}") from None


def _told(done: subprocess.CompletedProcess[bytes]) -> str:
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return said[-1] if said else f"it ended with status {done.returncode}"
