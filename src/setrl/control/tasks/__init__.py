"""Control tasks with several ways to succeed."""

from __future__ import annotations

from setrl.control.tasks.base import Task

__all__ = ["Task"]
