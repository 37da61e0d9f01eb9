"""Reports that leave the program: pages of HTML and test cases, of text that may be sent to others."""
