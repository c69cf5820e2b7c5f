class Loop:
    def turn(self, rows): return rows


class Wheel:
    def spin(self, rows): return rows
