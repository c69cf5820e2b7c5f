TABLE = {'alpha': 1, 'gamma': 3}
