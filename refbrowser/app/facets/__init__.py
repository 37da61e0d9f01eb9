"""What formats add to the window: pages and bars of their own."""
