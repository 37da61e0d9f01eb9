"""Files that hold no arrays and no references, but name others that do: NcML, VRT, STAC, lists of URLs."""
