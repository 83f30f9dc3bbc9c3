"""How people say things, English and Chinese: sentences and clauses, and what of them is said for later or for now."""
