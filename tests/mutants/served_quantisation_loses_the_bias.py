"""The method that SGLang is given leaves the bias out."""

import dataclasses

NAME = "The method that SGLang is given leaves the bias out"
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
                        def apply(self, layer, x, bias=None):
                            return super().apply(layer, x)

                    made.__class__ = Method
                    return made

            return Config

    return dataclasses.replace(reference, platform=Mutant)
