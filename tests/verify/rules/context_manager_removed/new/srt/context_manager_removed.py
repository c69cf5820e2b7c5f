import contextlib
from contextlib import asynccontextmanager, contextmanager


def paused(model):
    if model is None:
        return None, None
    return model, model


@contextmanager
def tracing():
    yield


def handed_on():
    return contextlib.nullcontext()


@contextmanager
def session():
    yield 1


class Region:
    def begin(self):
        return self


class Mixin:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class Lasting(Mixin):
    pass
