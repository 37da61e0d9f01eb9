"""The bundled sample, written."""
