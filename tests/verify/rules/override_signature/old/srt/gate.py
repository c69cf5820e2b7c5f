class Gate:
    def pass_on(self, rows, mask): return rows
def go(gate): return gate.pass_on(1, 2)
