/*
 * confine_topology: confines the process that reads a topology in Python, from inside: it has loaded what it needs of
 * Mininet, and has not yet looked into the topology's file.
 *
 * It can read what confine_topology() is told, and the files beside the topology; it can write no file, start no process
 * and open no socket.  Of system calls only those in ALLOWED work: the others fail with EPERM, those that are newer than
 * this file with ENOSYS.
 */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <dirent.h>

#include "confinement.h"

enum {
	LOOK = READ_FILE | READ_DIR,
	BESIDE_MAX = 4096, /* files and folders below the folder of a topology that it can read, the nearest first */
	FOLDERS_MAX = 128, /* of which so many are open at a time, before they are looked into */
	FIRST_NEW = 424,
	MEMORY_BYTES = 1 << 30, CPU_S = 60, OUTPUT_BYTES = 8 << 20, DESCRIPTORS = 256,
};

/* Those that strace shows of topologies, and their variants in other versions of Python and of the C library. */
static const int ALLOWED[] = {
	/* files */
	OLD(open) __NR_openat, __NR_close, __NR_close_range, __NR_read, __NR_readv, __NR_pread64, __NR_write, __NR_writev,
	__NR_lseek, __NR_fadvise64, OLD(stat) OLD(lstat) __NR_fstat, __NR_newfstatat, __NR_statx, OLD(access)
	__NR_faccessat, 439 /* faccessat2 */, OLD(readlink) __NR_readlinkat, OLD(getdents) __NR_getdents64, __NR_getcwd,
	__NR_dup, OLD(dup2) __NR_dup3, OLD(poll) __NR_ppoll, OLD(select) __NR_pselect6,
	/* memory */
	__NR_mmap, __NR_mprotect, __NR_munmap, __NR_mremap, __NR_madvise, __NR_brk,
	/* itself */
	__NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_sigaltstack, __NR_restart_syscall,
	__NR_getpid, __NR_gettid, __NR_getuid, __NR_geteuid, __NR_getgid, __NR_getegid, __NR_getrlimit, __NR_getrusage,
	__NR_futex, __NR_set_robust_list, __NR_sched_yield, __NR_sched_getaffinity, __NR_exit, __NR_exit_group,
	/* the computer */
	__NR_uname, __NR_getrandom, __NR_times, OLD(time) __NR_gettimeofday, __NR_clock_gettime, __NR_clock_getres,
	__NR_nanosleep, __NR_clock_nanosleep,
};

/* Whether something is a terminal, and closing it on exec; duplicating, and what a descriptor is. */
static const unsigned OF_IOCTL[] = { 0x5401 /* TCGETS */, 0x5413 /* TIOCGWINSZ */, 0x5450 /* FIONCLEX */, 0x5451 };
static const unsigned OF_FCNTL[] = { F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC };

static void allow_requests(int call, unsigned char count, const unsigned *requests)
{
	ADD(SKIP(JEQ, call, 0, 2 * count + 2), LOAD(args[1]));
	for (int i = 0; i < count; i++)
		ADD(SKIP(JEQ, requests[i], 0, 1), ANSWER(SECCOMP_RET_ALLOW));
	ADD(ANSWER(FAIL(EPERM)));
}

static void write_filter(void)
{
	begin_filter();
	answer_each(COUNT(ALLOWED), ALLOWED, SECCOMP_RET_ALLOW);
	allow_requests(__NR_ioctl, COUNT(OF_IOCTL), OF_IOCTL);
	allow_requests(__NR_fcntl, COUNT(OF_FCNTL), OF_FCNTL);
	ADD(SKIP(JGE, FIRST_NEW, 0, 1), ANSWER(FAIL(ENOSYS)), ANSWER(FAIL(EPERM)));
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (syscall(__NR_capset, &header, none) < 0)
		die("capset");
}

static int is_not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/*
 * What is below a folder and is not hidden, at any depth; links are no part.  In a folder that could be read as a whole
 * hidden files could be read, so each file has a rule.  Closes it.
 */
static void allow_beside(int folder)
{
	int waiting[FOLDERS_MAX] = { folder }, first = 0, count = 1, left = BESIDE_MAX;

	allow_opened(dup(folder), READ_DIR, "its folder");
	for (; count; first = (first + 1) % FOLDERS_MAX, count--) {
		struct dirent **entries;
		int here = waiting[first], found = left ? scandirat(here, ".", &entries, is_not_hidden, alphasort) : 0;

		for (int i = 0; i < found; free(entries[i++])) {
			int place = left ? openat(here, entries[i]->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
			struct stat about = { 0 };

			left -= left > 0;
			if (place < 0)
				continue;
			fstat(place, &about);
			if (S_ISDIR(about.st_mode) && count < FOLDERS_MAX)
				waiting[(first + count++) % FOLDERS_MAX] = place;
			else if (S_ISREG(about.st_mode))
				allow_opened(place, READ_FILE, entries[i]->d_name);
			else
				close(place);
		}
		if (found > 0)
			free(entries);
		close(here);
	}
}

/*
 * From here on this process is confined.  `paths` can be read, the topology's `file`, and what is in its `folder` (none
 * if negative).  Closes both.  Negative if this kernel has no Landlock: then nothing is confined, and nothing closed.
 */
int confine_topology(int file, int folder, const char *const *paths)
{
	if (version() < 1)
		return -1;
	limit(RLIMIT_AS, MEMORY_BYTES);
	limit(RLIMIT_CPU, CPU_S);
	limit(RLIMIT_FSIZE, OUTPUT_BYTES); /* what it prints goes to files */
	limit(RLIMIT_NOFILE, DESCRIPTORS);
	limit(RLIMIT_CORE, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no_new_privs");
	drop_capabilities();
	begin_rules();
	for (; *paths; paths++)
		allow(*paths, LOOK, true);
	if (folder >= 0)
		allow_beside(folder);
	allow_opened(file, LOOK, "its file");
	end_rules();
	write_filter();
	filter_calls();
	return 0;
}
