"""How documents come in: the start page, drops, recent files, files that are no documents."""
