"""The command line: ``sglang-contracts COMMAND``.

:func:`main` is the only way in. It turns whatever a command raises into the exit codes of the
design: 0 fine, 1 findings, 2 could not run, and nothing else (130 after Ctrl-C, 141 after a closed
pipe, 129 and 143 after SIGHUP and SIGTERM are the shell's own).
"""

import os
import sys

# ``python -m sglang_contracts.cli`` is on its way here and has put the current folder first on the
# module path: a stranger's ``typing.py`` in it would run with the next import. (What is imported
# above, Python itself has imported by then.)
if sys.argv[:1] == ["-m"] and not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]

import atexit
import contextlib
import gc
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import click

DEBUG = "SGLANG_CONTRACTS_DEBUG"
"""Set to ``1``: an unexpected error prints its traceback."""

CANNOT_RUN = 2
_NAME = 200
"""Characters of a path that an error shows."""

_SIGNAL = 128
"""What a shell adds to the number of the signal that ended a command."""
INTERRUPTED = 130
PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code; never raises, never prints a traceback unasked.

    Args:
        arguments: Command line without the program's name; None: the process's own.
    """
    import click

    from sglang_contracts.cli.group import cli
    from sglang_contracts.errors import ContractsError

    _open_streams()
    # Records and syntax trees have no cycles: looking for some takes time and frees nothing.
    gc.set_threshold(1_000_000, 20, 100)
    # The interpreter collects once more when it ends: a third of a second, of records none needs.
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = cli.main(args=given, prog_name="sglang-contracts", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        with _complaining():
            _show(error)
        return CANNOT_RUN
    except (click.Abort, KeyboardInterrupt):
        with _complaining():
            print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else CANNOT_RUN
        if code > _SIGNAL:  # a command that a signal ended, after its clean-up; click's 1 is a pipe
            with _complaining():
                print("ended by a signal", file=sys.stderr)
        return code
    except BrokenPipeError:
        # Whoever read us has seen enough. Point stdout elsewhere, or the interpreter complains
        # when it flushes at exit.
        _silence(sys.stdout)
        return PIPE_CLOSED
    except ContractsError as error:
        _complain(error.message, error.hint)
        return CANNOT_RUN
    except MemoryError:
        _complain("out of memory", "check one release at a time with --release")
        return CANNOT_RUN
    except OSError as error:
        _complain(*_system(error))
        try:
            sys.stdout.flush()
        except OSError:  # what is still held would be tried again at exit, which is then 120
            _silence(sys.stdout)
        return CANNOT_RUN
    except Exception as error:
        if os.environ.get(DEBUG) == "1":
            import traceback

            with _complaining():
                traceback.print_exc()
        _complain(
            f"unexpected {type(error).__name__}: {' '.join(str(error).split())[:200]}",
            f"this is a defect of sglang-contracts, not of your plugin: please report it with the "
            f"traceback that {DEBUG}=1 prints",
        )
        return CANNOT_RUN


@contextlib.contextmanager
def _complaining() -> Iterator[None]:
    """Say something on stderr; where it takes nothing (a full disk) the exit code still tells."""
    try:
        yield
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)


def _silence(stream: IO[str]) -> None:
    """Let what a stream still holds lead nowhere: the interpreter flushes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _open_streams() -> None:
    """A stream that the shell closed (``>&-``) leads nowhere; the exit code still tells."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def _system(error: OSError) -> tuple[str, str]:
    """What the system refused, and what helps: a full disk or a bad name is no defect of ours."""
    import errno

    reason = error.strerror or str(error)
    hints = {
        errno.ENOSPC: "free some space, or write elsewhere with --output",
        errno.ENAMETOOLONG: "give a shorter one",
        errno.ELOOP: "a symbolic link leads to itself: remove it",
        errno.EMFILE: "raise the limit on open files: ulimit -n",
        errno.EACCES: "see who may read and write it",
    }
    hint = hints.get(error.errno or 0, "see whether it is there and can be read and written")
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
    if len(name) > _NAME:
        name = f"{name[:_NAME]}..."
    return (f"{name}: {reason}" if name else f"cannot read or write: {reason}"), hint


def _show(error: "click.ClickException") -> None:
    """What is wrong with the command line, as click says it; words in it may be others' names."""
    import io

    from sglang_contracts.cli.console import say
    from sglang_contracts.inert import harmless

    said, message = io.StringIO(), error.format_message()
    error.show(said)
    text = said.getvalue().rstrip("\n")
    say(text.replace(message, harmless(message, kept="")), err=True)


def _complain(message: str, hint: str) -> None:
    """One red line on stderr, the hint below it."""
    import click

    from sglang_contracts.cli.console import wants_color
    from sglang_contracts.inert import harmless, no_log_commands

    color = wants_color(sys.stderr, "auto")
    label, other = click.style("error: ", fg="red", bold=True), click.style("hint: ", fg="cyan")
    with _complaining():
        said = no_log_commands(harmless(message, kept=""))
        click.echo(label + said, err=True, color=color)
        if hint:
            said = no_log_commands(harmless(hint))  # may end in the lines of a log
            click.echo(other + said.replace("\n", "\n  "), err=True, color=color)
