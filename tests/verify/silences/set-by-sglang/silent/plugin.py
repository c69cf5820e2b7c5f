def use(batch):
    return batch.kept + batch.lost
