"""requirements.lock, from which `make setup` and CI install: each package with one version a Python, and its hashes."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text().replace("\\\n", " ").splitlines()
LOCKED = [(Requirement(re.split(r"\s--hash", line)[0]), re.findall(r"--hash=(\S+)", line)) for line in LOCK if line]


def asked() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    dependencies = project["project"]["dependencies"] + extras["all"] + extras["dev"]
    return [Requirement(each) for each in dependencies + project["build-system"]["requires"]]


def versions(name: str) -> list[str]:
    return [next(iter(each.specifier)).version for each, _ in LOCKED if canonicalize_name(each.name) == name]


def test_every_package_has_one_version_and_hashes() -> None:
    assert len(LOCKED) > 50
    for requirement, hashes in LOCKED:
        assert [each.operator for each in requirement.specifier] == ["=="], requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), requirement


def test_what_the_project_asks_for_is_locked_at_a_version_that_it_allows() -> None:
    for requirement in asked():
        locked = versions(canonicalize_name(requirement.name))
        assert locked, f"{requirement} is not in requirements.lock: make lock"
        assert all(requirement.specifier.contains(each) for each in locked), f"{requirement}: {locked}: make lock"


def test_no_address_of_a_registry_is_in_it() -> None:
    assert not [line for line in LOCK if "://" in line]
