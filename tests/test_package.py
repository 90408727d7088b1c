"""What is typed to install a package, and that a server among them is not left running."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed import package


def test_a_package_that_starts_a_server_is_installed_with_the_server_kept_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(package, "SYSTEMD", tmp_path)
    assert package.install_command(["nginx-light"]).split(" && ") == [
        "sudo systemctl mask nginx",
        "sudo env RUNLEVEL=1 apt-get install -y nginx-light",
        "sudo systemctl unmask nginx",
        "sudo systemctl disable nginx",
    ]


def test_a_package_with_two_services_has_both_kept_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(package, "SYSTEMD", tmp_path)
    first, *_, last = package.install_command(["openvswitch-switch"]).split(" && ")
    assert first == "systemctl mask openvswitch-switch ovs-record-hostname"
    assert last == "systemctl disable openvswitch-switch ovs-record-hostname"


def test_without_systemd_the_runlevel_keeps_it_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(package, "SYSTEMD", tmp_path / "none")
    assert package.install_command(["nginx-light"]) == "env RUNLEVEL=1 apt-get install -y nginx-light"


def test_other_packages_are_installed_as_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert package.install_command(["bc", "curl"]) == "apt-get install -y bc curl"


def test_every_server_is_a_package_of_the_list() -> None:
    listed = (*package.packages(), *package.packages("test"))
    assert set(package.SERVICES) <= {each.name for each in listed}


def test_what_only_tests_need_is_no_part_of_what_the_testbed_needs() -> None:
    of_tests = {each.name for each in package.packages("test")}
    assert "chromium" in of_tests
    assert not of_tests & {each.name for each in package.packages()}
