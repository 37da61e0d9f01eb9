"""Which properties arrays should have, as somebody declares them."""
