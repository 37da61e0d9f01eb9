"""Gen rules as algebra: counted, viewed, searched, never expanded."""
