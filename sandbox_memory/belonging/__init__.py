"""Whose a memory is where many people are served: what is one customer's is never told to the run of the next.

One conversation is one customer's, and so is what is learned in it, but for what can be shown to be about nobody: how a
tool is called and what it refuses, what a document says, what a look-up of something that is there for anybody shows,
and what an agent says as a rule for anybody in words that are not this customer's.
"""

from .customer import Customer, Place
from .titling import Titles

__all__ = ["Customer", "Place", "Titles"]
