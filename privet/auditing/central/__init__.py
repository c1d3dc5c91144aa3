"""Audits of training by a trusted holder: canaries, guesses and bets against a claim, and replays of the program."""
