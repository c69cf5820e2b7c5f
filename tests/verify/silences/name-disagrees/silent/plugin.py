def use(batch):
    return batch.lost + batch.kept + batch.pages + batch.chapters + batch.lines
