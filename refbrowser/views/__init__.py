"""What panes show, as values made without Qt: rows, words, pictures and states."""
