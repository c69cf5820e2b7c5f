"""The method that SGLang is given takes one scale for all channels."""

import dataclasses

NAME = "The method that SGLang is given takes one scale for all channels"
KILLED_BY = "weights.served-method-equals-dequantised-product"
RELEASES = ">=0.5.13"


def make(reference):
    from sglang_contracts.suite.served import platform_class

    class Mutant(platform_class(reference)):
        def get_quantization_config(self, quantization):
            found = super().get_quantization_config(quantization)

            class Config(found):
                def get_quant_method(self, layer, prefix):
                    made = super().get_quant_method(layer, prefix)

                    class Method(type(made)):
                        def process_weights_after_loading(self, layer):
                            layer.weight_scale.data[:] = layer.weight_scale.data[0]
                            super().process_weights_after_loading(layer)

                    made.__class__ = Method
                    return made

            return Config

    return dataclasses.replace(reference, platform=Mutant)
