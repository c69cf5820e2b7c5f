"""The checks, by family. The registry imports every module of this package."""
