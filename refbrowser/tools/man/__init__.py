"""Man pages: what the help says, as terminals and packages of systems want it."""
