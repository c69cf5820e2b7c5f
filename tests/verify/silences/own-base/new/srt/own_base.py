from abc import ABC, abstractmethod


class Hook(ABC):
    @abstractmethod
    def wanted(self): ...
    def run(self): return self.wanted()
