"""The text of a document as rows on the screen: where they begin, what stands in them, what is edited."""
