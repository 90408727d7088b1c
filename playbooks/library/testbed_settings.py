#!/usr/bin/python
"""Ansible module: kernel settings, modules and offloads of a machine, written down before they are first changed.

The journal, /var/lib/testbed/settings.json, has the value of each as it was before the testbed came. `state: present`
makes them what is asked, `state: restored` what they were, and then the journal goes. Both do nothing where there is
nothing to do, and fail while a trial has the machine. What cannot be restored is an error, and stays in the journal.
After a reboot nothing is left to restore, and the journal is of no use.
"""

from __future__ import annotations

import fcntl
import json
import os

from ansible.module_utils.basic import AnsibleModule

FOLDER = "/var/lib/testbed"
JOURNAL = FOLDER + "/settings.json"
LOCK = FOLDER + "/lock"
"""Locked by a trial, as long as it has the machine."""


class Machine:
    def __init__(self, module):
        self.module = module
        self.changed = []
        self.refused = []
        self.journal = self.read_journal()

    def call(self, words, check=True):
        status, out, err = self.module.run_command(words)
        if status and check:
            self.module.fail_json(msg="{}: {}".format(" ".join(words), err.strip()))
        return status, out, err

    def read_journal(self):
        empty = {"sysctls": {}, "offloads": {}, "modules": [], "boot": boot_id()}
        if not os.path.exists(JOURNAL):
            return empty
        with open(JOURNAL) as file:
            journal = json.load(file)
        return journal if journal["boot"] == empty["boot"] else empty

    def write_journal(self):
        if self.module.check_mode:
            return
        os.makedirs(FOLDER, exist_ok=True)
        with open(JOURNAL + ".new", "w") as file:
            json.dump(self.journal, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.rename(JOURNAL + ".new", JOURNAL)

    # Sysctls

    def sysctl(self, name, value, remember=True):
        path = "/proc/sys/" + (name if "/" in name else name.replace(".", "/"))
        value = " ".join(str(value).split())
        try:
            with open(path) as file:
                was = " ".join(file.read().split())
        except OSError as error:
            self.refused.append(f"{name}: {error.strerror}")
            return
        if was == value:
            return
        if not os.access(path, os.W_OK):
            self.refused.append(f"{name} stays {was}: this machine does not let it be set")
            return
        if remember and name not in self.journal["sysctls"]:
            self.journal["sysctls"][name] = was
            self.write_journal()
        if not self.module.check_mode:
            try:
                with open(path, "w") as file:
                    file.write(value)
            except OSError as error:
                self.refused.append(f"{name} does not take {value}: {error.strerror}")
                return
        self.changed.append(f"{name}: {was} -> {value}")

    # Offloads

    def offloads(self, nic):
        _, out, _ = self.call(["ethtool", "-k", nic])
        pairs = (line.strip().split(": ", 1) for line in out.splitlines() if ": " in line)
        return {name: words.split()[0] for name, words in pairs if "[fixed]" not in words}

    def set_offloads(self, nic, wanted, remember=True):
        if not os.path.exists(f"/sys/class/net/{nic}"):
            have = ", ".join(sorted(os.listdir("/sys/class/net")))
            self.module.fail_json(msg=f"there is no network interface {nic} (there are {have})")
        now = self.offloads(nic)
        todo = {name: value for name, value in wanted.items() if name in now and now[name] != value}
        if not todo:
            return
        if remember:
            self.journal["offloads"].setdefault(nic, now)
            self.write_journal()
        if not self.module.check_mode:
            words = [word for pair in sorted(todo.items()) for word in pair]
            self.call(["ethtool", "-K", nic, *words])
        self.changed += [f"{nic} {name}: {now[name]} -> {value}" for name, value in sorted(todo.items())]

    # Modules

    def load(self, name):
        if os.path.isdir(f"/sys/module/{name}"):
            return
        status, _, err = self.call(["modprobe", "--dry-run", name], check=False)
        if status:
            self.refused.append("module {}: {}".format(name, (err.strip() or "not there").splitlines()[-1]))
            return
        _, out, _ = self.call(["modprobe", "--dry-run", "--show-depends", name], check=False)
        if not any(line.startswith("insmod") for line in out.splitlines()):
            return  # built in
        self.journal["modules"].append(name)
        self.write_journal()
        if not self.module.check_mode:
            self.call(["modprobe", name])
        self.changed.append(f"module {name} loaded")

    # All

    def present(self):
        if os.path.isdir("/lib/modules/" + os.uname().release):
            for name in self.module.params["modules"]:
                self.load(name)
        elif self.module.params["modules"]:
            self.refused.append("its kernel cannot load modules; a trial says what it lacks")
        for name, value in sorted(self.module.params["sysctls"].items()):
            self.sysctl(name, value)
        for nic in self.module.params["nics"]:
            self.set_offloads(nic, self.module.params["offloads"])

    def restore(self):
        if not os.path.exists(JOURNAL):
            return
        stays = {"sysctls": {}, "offloads": {}}
        for name, value in self.journal["sysctls"].items():
            known = len(self.refused)
            self.sysctl(name, value, remember=False)
            if len(self.refused) > known:
                stays["sysctls"][name] = value
        left, self.refused = self.refused, []
        for nic, was in self.journal["offloads"].items():
            if os.path.exists(f"/sys/class/net/{nic}"):
                self.set_offloads(nic, was, remember=False)
            else:
                stays["offloads"][nic] = was
                left.append(f"{nic} is not there, and its offloads are as `prepare` set them")
        for name in reversed(self.journal["modules"]):
            if self.module.check_mode:
                continue
            status, _, err = self.call(["modprobe", "-r", name], check=False)
            if status:
                self.refused.append(f"module {name} stays: {err.strip()}")
            else:
                self.changed.append(f"module {name} unloaded")
        if left:
            self.journal.update(stays, modules=[])
            self.write_journal()
            self.module.fail_json(msg="not restored, try again: {}".format("; ".join(left)))
        if not self.module.check_mode:
            os.unlink(JOURNAL)


def is_lent():
    """Whether a trial has the machine."""
    if not os.path.exists(LOCK):
        return False
    with open(LOCK) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def boot_id():
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"choices": ["present", "restored"], "default": "present"},
            "sysctls": {"type": "dict", "default": {}},
            "offloads": {"type": "dict", "default": {}},
            "nics": {"type": "list", "elements": "str", "default": []},
            "modules": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    if is_lent():
        module.fail_json(msg="a trial is running on it; one that was killed gives it back within a minute")
    machine = Machine(module)
    if module.params["state"] == "present":
        machine.present()
    else:
        machine.restore()
    module.exit_json(changed=bool(machine.changed), settings=machine.changed, refused=machine.refused)


if __name__ == "__main__":
    main()
