"""Reading streams: their messages, what these say of variables, and their elements."""
