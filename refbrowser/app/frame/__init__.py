"""What stands around the panes of one window: centre, navigation, bars, status line, layout, keyboard."""
