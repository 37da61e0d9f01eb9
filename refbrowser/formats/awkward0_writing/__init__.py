"""Writing Awkward 0: values as expressions and named blobs, in whatever container."""
