"""Making references of single files, a document for each."""
