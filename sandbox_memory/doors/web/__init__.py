"""The memory on a local page, `sandbox-memory web`: read it, search it, edit it, answer it, take changes back.

Needs the extra `web`. All is rendered here, from what `open_memory` gives; the page's one script only adds to it.
"""

from __future__ import annotations
