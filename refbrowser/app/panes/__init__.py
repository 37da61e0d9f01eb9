"""What shows one side of a document each: tree, references, attributes, chunks, findings."""
