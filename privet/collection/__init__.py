"""A study from the users' devices to the store: manifest, participant, collector. The server is the adversary."""
