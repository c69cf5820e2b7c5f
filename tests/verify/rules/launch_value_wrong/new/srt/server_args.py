
import argparse


class ServedArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument('--ratio', type=float)
        parser.add_argument('--share', type=int, nargs='?')
        parser.add_argument('--quiet', action='store_true')
        parser.add_argument('--loud', type=int)
        parser.add_argument('--going', help='Deprecated. Use --staying instead.')
        parser.add_argument('--staying')
        parser.add_argument('--switch', action=argparse.BooleanOptionalAction)
