import contextlib
from contextlib import asynccontextmanager, contextmanager


@contextmanager
def paused(model):
    yield model


@contextmanager
def tracing():
    yield


@contextmanager
def handed_on():
    yield


@asynccontextmanager
async def session():
    yield 1


class Region:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class Lasting:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None
