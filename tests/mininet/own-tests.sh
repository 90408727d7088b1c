#!/bin/sh
# Runs Mininet's own tests in a lab kernel, as root there: own-tests.sh FOLDER MODULE...
# FOLDER has the tests of Mininet's source. What they expect of a machine and the guest has not got:
#
# controller   the reference controller; Mininet's installer puts a link to Open vSwitch's in its place, and so do we
# iperf        Mininet counts two reports of a server; iperf 2.1 makes only one, for a connection without data counts no
#              more. So the server reports each second as well
# cgroups      the guest has none. The programs keep what they are told and tell it again, but limit nothing: in virtual
#              time computing is free. testCPULimits, which measures a limit with a busy loop, is left out
set -eu
folder=$1 && shift
mkdir -p /run/bin /run/cgroups /run/openvswitch /dev/pts
[ -e /dev/pts/ptmx ] || mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /sys/fs
mkdir /sys/fs/cgroup
mount -t tmpfs cgroup /sys/fs/cgroup

put() { cat >"/run/bin/$1" && chmod 755 "/run/bin/$1"; }
put controller <<'END'
#!/bin/sh
exec ovs-testcontroller "$@"
END
put iperf <<'END'
#!/bin/sh
case " $* " in *' -s '*) exec /usr/bin/iperf "$@" -i 1 ;; esac
exec /usr/bin/iperf "$@"
END
for each in cgcreate cgclassify cgdelete; do printf '#!/bin/sh\n' | put $each; done
put cgset <<'END'
#!/bin/sh
# -r NAME=VALUE /GROUP
mkdir -p "/run/cgroups$3" && echo "${2#*=}" >"/run/cgroups$3/${2%%=*}"
END
put cgget <<'END'
#!/bin/sh
# -r NAME /GROUP
echo "$2: $(cat "/run/cgroups$3/$2")"
END
export PATH="/run/bin:$PATH"

sleep 10 # Open vSwitch counts its processors once the clock has come to 10 s
ovsdb-tool create /run/openvswitch/conf.db /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server /run/openvswitch/conf.db --remote=punix:/run/openvswitch/db.sock --pidfile --detach --log-file=/run/ovsdb.log
ovs-vsctl --no-wait init
ovs-vswitchd --pidfile --detach --log-file=/run/vswitchd.log

cd "$folder"
python3 - "$@" <<'END'
import sys, unittest

LEFT_OUT = "testCPULimits"
tests, left_out = unittest.TestSuite(), 0
for module in sys.argv[1:]:
    for cases in unittest.defaultTestLoader.loadTestsFromName(module):
        for case in cases:
            if case.id().endswith(LEFT_OUT):
                left_out += 1
            else:
                tests.addTest(case)
done = unittest.TextTestRunner(verbosity=2).run(tests)
print(f"ran {done.testsRun}, skipped {len(done.skipped)}, left out {left_out}, failed {len(done.failures + done.errors)}")
sys.exit(not done.wasSuccessful())
END
