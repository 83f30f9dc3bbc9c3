"""Whether two texts say the same, judged by their words alone, and by how telling these are in the memory at hand."""

from .comparing import Said, better, overlap, said, same, tokens, topic
from .denying import denies, overrules, refers_back, repeats
from .shelf import Shelf
from .telling import Telling

__all__ = [
    "Said",
    "Shelf",
    "Telling",
    "better",
    "denies",
    "overlap",
    "overrules",
    "refers_back",
    "repeats",
    "said",
    "same",
    "tokens",
    "topic",
]
