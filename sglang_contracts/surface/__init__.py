"""What each release offers: wheel → surface, and names over it."""

from sglang_contracts.surface.catalog import Catalog, Surface, load_catalog
from sglang_contracts.surface.symbol import Symbol

__all__ = ["Catalog", "Surface", "Symbol", "load_catalog"]
