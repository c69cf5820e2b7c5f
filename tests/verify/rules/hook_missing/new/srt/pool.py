from abc import ABC, abstractmethod


class Linker(ABC):
    @abstractmethod
    def load(self): ...
    @abstractmethod
    def finish(self, index): ...
