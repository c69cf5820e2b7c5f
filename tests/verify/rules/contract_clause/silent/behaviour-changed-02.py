from sglang.srt.pool import Pool
class Own(Pool):
    def put(self, layer, loc):
        if not isinstance(loc, int):
            loc = loc.rows
        return loc
