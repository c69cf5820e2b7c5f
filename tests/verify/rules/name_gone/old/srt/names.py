import argparse
import dataclasses
import enum
from abc import ABC, abstractmethod
from typing import List, Optional, Tuple

def dropped(): return 1
def stays(): return 1
class Mover:
    def go(self): return 1
