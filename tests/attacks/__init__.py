"""Attacks on releases, by code that shares nothing with what made them: `python -m tests.attacks`.

The notions are those of the Article 29 Working Party (opinion 05/2014: singling out, linkability,
inference) as anonymeter measures them (Giomi and others, PETS 2023): an attacker makes guesses with
the release in hand, guesses are judged by what really happened, and the share of right ones stands,
with its interval, beside that of an attacker who has no release. docs/attacks.md explains each.
"""
