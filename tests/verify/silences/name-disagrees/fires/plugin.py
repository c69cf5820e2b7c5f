def use(batch):
    return batch.lost + batch.kept
