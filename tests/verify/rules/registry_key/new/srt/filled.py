THINGS = {}
def register_thing(name):
    def keep(f):
        THINGS[name] = f
        return f
    return keep
@register_thing('alpha')
def alpha(): return 1
