"""Which model does which phase."""

from __future__ import annotations

from typing import Any

from . import Model

OFFLINE = "offline"


def model(name: Any, settings: Any = None, *, run_config: Any = None, max_turns: int | None = None) -> Model:
    """The built-in model for `"offline"`, else the SDK's for a name or a `Model` object."""
    if name == OFFLINE:
        from .offline import OfflineModel

        return OfflineModel()
    from .agents_sdk import AgentsModel

    return AgentsModel(name, settings, run_config=run_config, max_turns=max_turns)


def choose(generate: Any, *, run_config: Any = None) -> tuple[Model, Model]:
    """The models of phase 1 and phase 2 of a `MemoryGenerateConfig`."""
    return (
        model(generate.phase_one_model, generate.phase_one_model_settings, run_config=run_config),
        model(
            generate.phase_two_model,
            generate.phase_two_model_settings,
            run_config=run_config,
            max_turns=getattr(generate, "phase_two_max_turns", None),
        ),
    )
