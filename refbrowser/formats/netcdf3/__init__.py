"""The classic formats of netCDF: CDF-1, CDF-2 (64-bit offsets) and CDF-5 (64-bit data)."""
