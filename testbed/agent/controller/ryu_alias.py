"""The alias: `ryu.x` is `os_ken.x`, the maintained fork of Ryu, so that apps written for Ryu run unchanged."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

OLD, NEW = "ryu", "os_ken"

OURS = {f"{name}.app.simple_switch_13": "testbed.agent.controller.learning_switch" for name in (OLD, NEW)}
"""Apps that came with Ryu, that others build on, and that os-ken has not got."""


class Loader(importlib.abc.Loader):
    """Hands out a module that has been imported under another name."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


class Finder(importlib.abc.MetaPathFinder):
    """Finds what begins with `ryu`, and what os-ken has not got."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != OLD and not name.startswith(f"{OLD}.") and name not in OURS:
            return None
        try:
            module = importlib.import_module(OURS.get(name, NEW + name[len(OLD) :]))
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith(NEW):
                raise
            return None
        return importlib.machinery.ModuleSpec(name, Loader(module), is_package=hasattr(module, "__path__"))


class TaskExit(BaseException):
    """What ends a task of os-ken's from outside."""


def install() -> None:
    """For all imports that follow.

    With native threads os-ken takes any exception for a task that was told to end: an app would go deaf at its first
    one, and nobody would hear of it. Ryu logs it and goes on, and so does os-ken with an exception of its own for that.
    """
    from os_ken import exception
    from os_ken.base import app_manager
    from os_ken.lib import hub

    if hub.HUB_TYPE == "native":
        hub.TaskExit = TaskExit
    app_manager.RyuApp = app_manager.OSKenApp
    exception.RyuException = exception.OSKenException
    sys.meta_path.insert(0, Finder())
