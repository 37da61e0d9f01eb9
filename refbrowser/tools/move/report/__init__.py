"""Where the URLs of a document lead, as a tree, and what another place of a part of them changes."""
