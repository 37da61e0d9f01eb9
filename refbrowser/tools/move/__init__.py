"""Moving: where the files of a document lie, and URLs that begin otherwise."""
