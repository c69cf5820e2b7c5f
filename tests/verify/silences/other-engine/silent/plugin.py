import vllm


def use(batch):
    return batch.lost + batch.kept
