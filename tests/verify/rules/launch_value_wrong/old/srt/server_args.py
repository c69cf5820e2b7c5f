
import argparse


class ServedArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument('--ratio')
        parser.add_argument('--share', nargs='?')
        parser.add_argument('--quiet')
        parser.add_argument('--loud', action='store_true')
        parser.add_argument('--going')
        parser.add_argument('--switch', action=argparse.BooleanOptionalAction)
