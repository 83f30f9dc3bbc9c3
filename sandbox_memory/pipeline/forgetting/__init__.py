"""Forgetting: what is named is taken out of every file, sought again, and recognised when a copy brings it back."""
