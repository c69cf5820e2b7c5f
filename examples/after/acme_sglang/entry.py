"""What SGLang calls at start-up."""

from sglang.srt.layers.attention.attention_registry import register_attention_backend


def register():
    """Register the attention backend under its name."""

    @register_attention_backend("acme")
    def make(model_runner):
        from acme_sglang.attention import AcmeAttention

        return AcmeAttention(model_runner)
