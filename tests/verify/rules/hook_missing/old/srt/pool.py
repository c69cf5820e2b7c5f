from abc import ABC, abstractmethod


class Linker(ABC):
    @abstractmethod
    def load(self): ...
