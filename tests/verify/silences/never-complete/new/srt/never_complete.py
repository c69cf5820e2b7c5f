from abc import ABC, abstractmethod


class Old(ABC):
    @abstractmethod
    def needed(self): ...
    def run(self): return self.needed()


class Hook(ABC):
    @abstractmethod
    def wanted(self): ...
    def run(self): return self.wanted()
