"""CDL, the notation of ``ncdump`` and ``ncgen``."""
