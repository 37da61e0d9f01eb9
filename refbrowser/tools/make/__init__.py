"""Making references of files of data: a document for each, or one of all."""
