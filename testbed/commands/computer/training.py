"""The trials that a lab kernel is profiled by when it is built. What they measure is thrown away."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from ...journal import folder_noted, unique
from ...kernel import lab
from ...kernel.image import recipe
from ...kernel.image.cache import KernelImage
from ...kernel.native_program import tools
from ...spec.load import load_scenario
from ...trial.orders.sequence import orders
from ...trial.start import local_words

FILE = recipe.FOLDER / "lab" / recipe.TRAINING


def train(linux: Path, counts: Path) -> None:
    """Runs them on a kernel that counts what it does (`kernel/image/profile.py`). What all of them counted is in
    `counts` afterwards. TestbedError if one fails.
    """
    image = KernelImage("training", linux, "", "", False, "", "")
    programs = tools()
    for trial in load_scenario(FILE).trials():
        made = orders(trial)
        with folder_noted(Path(tempfile.gettempdir(), unique("testbed-training"))) as folder:
            inside = folder / "counts"  # a guest writes nowhere else; it adds to what is there
            shutil.copytree(counts, inside)
            steps, _ = local_words.substituted(
                trial.topology, made.steps, programs, is_lab=True, is_virtual_time=trial.kernel.is_virtual_time
            )
            lab.run(
                image,
                steps,
                folder,
                tools=programs,
                seed=trial.seed,
                memory_bytes=made.memory_bytes,
                variables={"GCOV_PREFIX": str(inside)},
            )
            shutil.copytree(inside, counts, dirs_exist_ok=True)
