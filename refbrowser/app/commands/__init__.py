"""What the actions of the window do: a module for each kind of them."""
