import argparse
import dataclasses
import enum
from abc import ABC, abstractmethod
from typing import List, Optional, Tuple

@dataclasses.dataclass
class ServerArgs:
    model_path: str
    tp_size: int = 1

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument('--model-path')
        parser.add_argument('--tp-size', type=int)
        parser.add_argument('--policy', choices=['fcfs'])
