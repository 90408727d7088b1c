"""The alias: `ryu.x` is `os_ken.x`, the maintained fork of Ryu, so that apps written for Ryu run unchanged."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

OLD, NEW = "ryu", "os_ken"

OURS = {"ryu.app.simple_switch_13": "testbed.sdn.learning_switch"}
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
    """Finds what begins with `ryu`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != OLD and not name.startswith(f"{OLD}."):
            return None
        try:
            module = importlib.import_module(OURS.get(name, NEW + name[len(OLD) :]))
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith(NEW):
                raise
            return None
        return importlib.machinery.ModuleSpec(name, Loader(module), is_package=hasattr(module, "__path__"))


def install() -> None:
    """For all imports that follow."""
    from os_ken import exception
    from os_ken.base import app_manager

    app_manager.RyuApp = app_manager.OSKenApp
    exception.RyuException = exception.OSKenException
    sys.meta_path.insert(0, Finder())
