"""Reading over HTTP: connections to addresses that were checked, requests, their answers."""
