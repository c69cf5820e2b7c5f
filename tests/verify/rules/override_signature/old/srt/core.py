import argparse
import dataclasses
import enum
from abc import ABC, abstractmethod
from typing import List, Optional, Tuple

from sglang.srt.pool import Pool
class Core:
    def __init__(self, pool: Pool, spec):
        self.pool = pool
        self.spec = spec
    def run(self):
        self.pool.copy([1])
        self.pool.old_hook()
        self.pool.plain()
        return self.spec.draft()
