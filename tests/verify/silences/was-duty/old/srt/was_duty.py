from abc import ABC, abstractmethod


class Turner(ABC):
    @abstractmethod
    def turn(self): ...
    def go(self): return self.turn()


class Plain:
    def swing(self): return 1
    def go(self): return self.swing()
