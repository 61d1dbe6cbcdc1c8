"""The backends by name; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from ...model.errors import InputError, Problem, RunError
from .access import Access
from .session import Approach
from .worker import Backend

BACKENDS = {"acsylla": ("acsylla_session", "AcsyllaBackend"), "python": ("python_session", "PythonBackend")}
"""Module and class of the backends that reach a real cluster."""
MEMORY = "memory"
EXTRA = "pip install 'capmodel[live]'"


def check_backend(name: str) -> None:
    """Refuse a backend that there is not.

    Raises:
        InputError: there is none of that name.
    """
    if name not in BACKENDS:
        raise InputError([Problem("--backend", name, f"one of {', '.join((*BACKENDS, MEMORY))}")])


def backend_of(name: str, access: Access, approach: Approach) -> Backend:
    """Return the backend of that name.

    Raises:
        InputError: there is none.
        RunError: its driver is not installed.
    """
    check_backend(name)
    module, attribute = BACKENDS[name]
    try:
        found = getattr(import_module(f".{module}", __package__), attribute)
    except ImportError as error:
        raise RunError(f"the {name} backend needs a driver that is not installed ({error.name}): {EXTRA}") from error
    backend: Backend = found(access, approach)
    return backend
