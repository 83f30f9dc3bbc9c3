"""The application with all its commands."""

from __future__ import annotations

from . import changes, erasing, questions  # each adds its commands
from .common import app

__all__ = ["app", "changes", "erasing", "questions"]
