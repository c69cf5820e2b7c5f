# what merely goes by a name may be of another class of its family
def f(wide_shelf):
    wide_shelf.stand()
    return wide_shelf.reach()
