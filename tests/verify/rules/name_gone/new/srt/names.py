import argparse
import dataclasses
import enum
from abc import ABC, abstractmethod
from typing import List, Optional, Tuple
def stays(): return 1
