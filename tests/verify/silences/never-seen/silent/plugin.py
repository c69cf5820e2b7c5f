def use(batch):
    batch.put(batch.kept, deep=2)
