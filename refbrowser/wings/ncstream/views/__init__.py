"""What panes show of streams, as values; knows no Qt."""
