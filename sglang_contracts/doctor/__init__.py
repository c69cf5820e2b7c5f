"""Diagnosis of a host: the symptoms of a served plugin, each ok, found, or not to be told."""

from sglang_contracts.doctor.diagnosis import Check, Diagnosis, Status, checks, diagnose
from sglang_contracts.doctor.host import Host

__all__ = ["Check", "Diagnosis", "Host", "Status", "checks", "diagnose"]
