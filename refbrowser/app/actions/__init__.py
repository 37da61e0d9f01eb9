"""Actions as values: what menus, toolbar and keys hold, without what they do."""
