"""Keeps secrets out of this package's log records: message, arguments, and the traceback that goes along."""

from __future__ import annotations

import logging
import traceback

from .redaction import redact

_ROOT = "sandbox_memory"


class _Discreet(logging.Filter):
    """Rewrites a record that holds a secret; others stay as they are."""

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # logging itself will tell of it
            return True
        if (clean := redact(message)) != message:
            record.msg, record.args = clean, ()
        if record.exc_info and record.exc_info[0] is not None:
            told = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            if (clean := redact(told)) != told:
                # The exception itself holds the secret; its text is all that a handler gets.
                record.exc_text, record.exc_info = clean, None
        return True


_FILTER = _Discreet()


def be_discreet() -> None:
    """See to it that no logger of this package says a secret; to be called again when more modules may be loaded."""
    names = [name for name in logging.root.manager.loggerDict if name == _ROOT or name.startswith(f"{_ROOT}.")]
    for name in names:
        logging.getLogger(name).addFilter(_FILTER)  # which adds none twice
