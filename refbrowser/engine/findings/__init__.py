"""What is wrong with an opened document, from wherever it is known: text, structure, reads, permissions."""
