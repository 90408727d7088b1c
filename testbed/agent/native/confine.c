/*
 * confine: restricts itself, and then executes a program, which cannot get rid of any of it.
 *
 *   confine [--seccomp-only] [--alone] [--terminal] [--file-bytes N] [--memory-bytes N] [--cpu-s N]
 *           [--read PATH] [--list FOLDER] [--write FOLDER] [--device PATH] ... -- PROGRAM [ARGUMENT] ...
 *
 * Landlock: what is below the paths of --read can be read and executed; of --list, the names of files can be read; of
 * --write, regular files and folders can be read, made, changed and removed, and nothing else: whoever reads them
 * later finds no links, devices or pipes; a device can be read, written and controlled.  Paths that do not exist are
 * left out, but for those of --write.  No TCP port can be bound or connected to (from ABI 4 on), no process outside be
 * signalled and no abstract socket reached (from ABI 6 on), no process outside be traced.  Without Landlock it fails,
 * unless --seccomp-only says that something else confines files.
 *
 * seccomp: no sockets but pairs of connected ones, and none of the system calls in REFUSED: those that Landlock does not
 * see, and those that a guest has no use for.  They fail with EPERM, those that are newer than this file with ENOSYS.
 *
 * The environment, the working folder and the arguments of PROGRAM are as they came.  --alone: it can start no processes.
 * --terminal: it has a pseudo-terminal of its own at the descriptors of confine.h, and can open no other.
 */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>

#include "confine.h"
#include "confinement.h"

enum {
	CLONE_NEW = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
	CLONE3 = 435,
	FCHMODAT2 = 452,
	NEWEST = 462, /* mseal; what follows changes attributes of files, or is not known */
	PUSH_INPUT = 0x5412, PUSH_LINUX = 0x541c,
	/* Kinds of ioctl by which an owner sets flags, generations, projects, keys, seals and the layout of a file that is
	 * open for reading: of ext4 and others, XFS, older ext2, btrfs.  Landlock sees none of them. */
	KIND = 0xff00, OF_EXT = 'f' << 8, OF_XFS = 'X' << 8, OF_VERSION = 'v' << 8, OF_BTRFS = 0x94 << 8,
};

static const int REFUSED[] = {
	/* other processes */
	__NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp, __NR_migrate_pages, __NR_move_pages,
	438 /* pidfd_getfd */, 424 /* pidfd_send_signal */, 440 /* process_madvise */, 448 /* process_mrelease */,
	__NR_setpriority, __NR_ioprio_set, __NR_sched_setparam, __NR_sched_setscheduler, __NR_sched_setattr,
	__NR_sched_setaffinity, __NR_setsid, __NR_setpgid,
	/* sockets, queues and memory that others share */
	__NR_socket, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4,
	__NR_shmget, __NR_shmat, __NR_shmctl, __NR_semget, __NR_semop, __NR_semtimedop, __NR_semctl,
	__NR_msgget, __NR_msgsnd, __NR_msgrcv, __NR_msgctl, __NR_mq_open, __NR_mq_unlink,
	/* what files are, which Landlock leaves alone, and what bubblewrap does not refuse in a folder that can be written */
	__NR_fchmod, __NR_fchmodat, FCHMODAT2, OLD(chmod)
	__NR_fchown, __NR_fchownat, OLD(chown) OLD(lchown)
	__NR_utimensat, OLD(utime) OLD(utimes) OLD(futimesat)
	__NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr,
	__NR_symlinkat, __NR_mknodat, OLD(symlink) OLD(mknod)
	__NR_name_to_handle_at, __NR_open_by_handle_at, __NR_fanotify_init, __NR_fanotify_mark,
	__NR_inotify_add_watch, __NR_quotactl, 443 /* quotactl_fd */, __NR_acct, __NR_swapon, __NR_swapoff,
	/* mounts and namespaces */
	__NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, 428 /* open_tree */, 429 /* move_mount */,
	430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */, 442 /* mount_setattr */,
	__NR_unshare, __NR_setns,
	/* the kernel */
	__NR_bpf, __NR_perf_event_open, __NR_userfaultfd, 425, 426, 427 /* io_uring */, __NR_add_key, __NR_request_key,
	__NR_keyctl, __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_kexec_load,
#ifdef __NR_kexec_file_load
	__NR_kexec_file_load,
#endif
	__NR_reboot, __NR_syslog, __NR_settimeofday, __NR_clock_settime, __NR_clock_adjtime, __NR_adjtimex,
	__NR_sethostname, __NR_setdomainname, __NR_vhangup, __NR_lookup_dcookie, __NR_nfsservctl,
	OLD(iopl) OLD(ioperm) OLD(modify_ldt) OLD(uselib) OLD(_sysctl)
};

#ifdef __NR_fork
static const int STARTING[] = { __NR_fork, __NR_vfork };
#else
static const int STARTING[] = {};
#endif

/* What a User-Mode Linux process does all the time, and no call of which is refused: decided first. */
static const int OFTEN[] = { __NR_futex, __NR_mmap, __NR_munmap, __NR_recvmsg, __NR_sendmsg, __NR_read, __NR_write };

static void write_filter(bool alone)
{
	begin_filter();
	answer_each(COUNT(OFTEN), OFTEN, SECCOMP_RET_ALLOW);
	ADD(SKIP(JGT, NEWEST, 0, 1), ANSWER(FAIL(ENOSYS))); /* and the calls of x32 */
	ADD(SKIP(JEQ, CLONE3, 0, 1), ANSWER(FAIL(ENOSYS))); /* its flags cannot be seen; libraries then take clone */
	answer_each(COUNT(REFUSED), REFUSED, FAIL(EPERM));
	if (alone)
		answer_each(COUNT(STARTING), STARTING, FAIL(EPERM));
	ADD(SKIP(JEQ, __NR_clone, 0, 5), LOAD(args[0]), SKIP(JSET, CLONE_NEW, 0, 1), ANSWER(FAIL(EPERM)),
	    SKIP(JSET, alone ? CLONE_THREAD : ~0U, 1, 0), ANSWER(alone ? FAIL(EPERM) : SECCOMP_RET_ALLOW), LOAD(nr));
	/* Not connected to each other, datagram sockets could be sent from to any other. */
	ADD(SKIP(JEQ, __NR_socketpair, 0, 7), LOAD(args[0]), SKIP(JEQ, AF_UNIX, 0, 4), LOAD(args[1]),
	    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf), SKIP(JEQ, SOCK_STREAM, 0, 1), ANSWER(SECCOMP_RET_ALLOW),
	    ANSWER(FAIL(EPERM)));
	ADD(SKIP(JEQ, __NR_prlimit64, 0, 4), LOAD(args[0]), SKIP(JEQ, 0, 1, 0), ANSWER(FAIL(EPERM)), LOAD(nr));
	ADD(SKIP(JEQ, __NR_kill, 0, 4), LOAD(args[0]), SKIP(JEQ, ~0U, 0, 1), ANSWER(FAIL(EPERM)), LOAD(nr));
	ADD(SKIP(JEQ, __NR_fcntl, 0, 5), LOAD(args[1]), SKIP(JEQ, F_SETLEASE, 1, 0), SKIP(JEQ, F_NOTIFY, 0, 1),
	    ANSWER(FAIL(EPERM)), LOAD(nr));
	ADD(SKIP(JEQ, __NR_ioctl, 0, 9), LOAD(args[1]), SKIP(JEQ, PUSH_INPUT, 6, 0), SKIP(JEQ, PUSH_LINUX, 5, 0),
	    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, KIND), SKIP(JEQ, OF_EXT, 3, 0), SKIP(JEQ, OF_XFS, 2, 0),
	    SKIP(JEQ, OF_VERSION, 1, 0), SKIP(JEQ, OF_BTRFS, 0, 1), ANSWER(FAIL(EPERM)));
	ADD(ANSWER(SECCOMP_RET_ALLOW));
}

/*
 * Root may open what is in folders of users, as far as Landlock lets it, and has no other privilege.  no_new_privs keeps
 * capabilities from coming back when the program is executed; but where they would, it loses its personality, which
 * User-Mode Linux wants to keep.  Hence the bounding set.
 */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = { 0 }, now[2];

	if (syscall(__NR_capget, &header, now) < 0)
		die("capget");
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (now[0].effective & 1 << CAP_SETPCAP)
		for (int number = 0; prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++)
			if (number != CAP_DAC_READ_SEARCH && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0)
				die("capability %d", number);
	sets[0].effective = sets[0].permitted = now[0].permitted & 1 << CAP_DAC_READ_SEARCH;
	if (syscall(__NR_capset, &header, sets) < 0)
		die("capset");
}

/* As far as it may. */
static void raise_limit(int what)
{
	struct rlimit now;

	if (getrlimit(what, &now) < 0)
		die("getrlimit");
	now.rlim_cur = now.rlim_max;
	if (setrlimit(what, &now) < 0)
		die("setrlimit");
}

/* User-Mode Linux tries one when it boots, and Landlock cannot tell it from the terminals of others. */
static void open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return; /* it does without, and says so */
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0 || dup2(master, TERMINAL_MASTER) < 0 || dup2(slave, TERMINAL_SLAVE) < 0)
		die("a terminal");
	close(master);
	close(slave);
}

enum { DESCRIPTORS_MAX = 65536 };

static const char *value_of(char **words, int *at)
{
	if (!words[*at + 1]) {
		errno = EINVAL;
		die("%s", words[*at]);
	}
	return words[++*at];
}

int main(int count, char **words)
{
	bool only_calls = false, alone = false;
	int at;

	for (at = 1; at < count && strcmp(words[at], "--seccomp-only") == 0; at++)
		only_calls = true;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no_new_privs");
	limit(RLIMIT_NOFILE, DESCRIPTORS_MAX);
	raise_limit(RLIMIT_NOFILE); /* a lab kernel has three for each process of its guest */
	if (!only_calls)
		begin_rules();
	for (; at < count && strcmp(words[at], "--") != 0; at++) {
		const char *option = words[at];

		if (strcmp(option, "--alone") == 0)
			alone = true;
		else if (strcmp(option, "--terminal") == 0)
			open_terminal();
		else if (strcmp(option, "--file-bytes") == 0)
			limit(RLIMIT_FSIZE, strtoull(value_of(words, &at), NULL, 10));
		else if (strcmp(option, "--memory-bytes") == 0)
			limit(RLIMIT_AS, strtoull(value_of(words, &at), NULL, 10));
		else if (strcmp(option, "--cpu-s") == 0)
			limit(RLIMIT_CPU, strtoull(value_of(words, &at), NULL, 10));
		else if (strcmp(option, "--read") == 0)
			allow(value_of(words, &at), READ, true);
		else if (strcmp(option, "--list") == 0)
			allow(value_of(words, &at), READ_DIR, true);
		else if (strcmp(option, "--write") == 0)
			allow(value_of(words, &at), WRITE, false);
		else if (strcmp(option, "--device") == 0)
			allow(value_of(words, &at), DEVICE, true);
		else {
			errno = EINVAL;
			die("%s", option);
		}
	}
	if (at + 1 >= count) {
		errno = EINVAL;
		die("no program");
	}
	limit(RLIMIT_CORE, 0);
	signal(SIGXFSZ, SIG_IGN); /* a file that is too large is an error of whoever writes it, not the end of all */
	drop_capabilities();
	if (!only_calls)
		end_rules();
	write_filter(alone);
	filter_calls();
	execv(words[at + 1], words + at + 1);
	die("%s", words[at + 1]);
}
