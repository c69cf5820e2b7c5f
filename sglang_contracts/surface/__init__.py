"""What each release offers: wheel → surface, and names over it."""

from sglang_contracts.surface.catalog import Catalog, load_catalog
from sglang_contracts.surface.surface import Surface
from sglang_contracts.surface.symbol import Symbol

__all__ = ["Catalog", "Surface", "Symbol", "load_catalog"]
