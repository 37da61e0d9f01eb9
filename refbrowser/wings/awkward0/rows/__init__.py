"""Values of layouts by rows: only what the rows need is read, and all of it is checked before it is used."""
