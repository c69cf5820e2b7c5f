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
        self.pool.copy([1], mask=None)
        self.pool.new_hook(1)
        self.pool.plain()
        self.spec.future_map(1)
        return self.spec.draft()
