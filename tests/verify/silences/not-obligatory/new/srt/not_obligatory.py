from abc import ABC, abstractmethod
class Hook:
    def wanted(self): raise NotImplementedError()
    def run(self): return self.wanted()
class One(Hook):
    def other(self): return 1
class Two(Hook):
    def wanted(self): return 2
class Duty(ABC):
    @abstractmethod
    def needed(self): ...
    def run(self): return self.needed()
