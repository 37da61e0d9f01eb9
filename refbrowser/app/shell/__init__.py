"""The window around the panes: start, menus' places, bars, docks, what is kept of its layout."""
