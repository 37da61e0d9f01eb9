"""Documents, as they are edited: with their findings, their history and its journal, folded."""
