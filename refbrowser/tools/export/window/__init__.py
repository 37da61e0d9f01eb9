"""What the window shows of exports."""
