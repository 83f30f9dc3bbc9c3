"""The application with all its commands."""

from __future__ import annotations

from ..web import command as web
from . import changes, erasing, handwork, inbox, questions, sight, story, watching  # each adds its commands
from .common import app

__all__ = ["app", "changes", "erasing", "handwork", "inbox", "questions", "sight", "story", "watching", "web"]
