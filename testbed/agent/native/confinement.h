/*
 * What confines a process from inside: the rules of Landlock, seccomp filters, limits.  Included by confine.c, which
 * executes a program, and by confine_topology.c, which the process of a topology in Python loads.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void die(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "confine: ");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, ": %s\n", strerror(errno));
	exit(126);
}

/* Landlock. The headers of a distribution may be older than its kernel, so the numbers of the interface stand here. */

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, PATH_BENEATH = 1, ASK_VERSION = 1 };

enum {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	REMOVE_DIR = 1 << 4,
	REMOVE_FILE = 1 << 5,
	MAKE_CHAR = 1 << 6,
	MAKE_DIR = 1 << 7,
	MAKE_REG = 1 << 8,
	MAKE_SOCK = 1 << 9,
	MAKE_FIFO = 1 << 10,
	MAKE_BLOCK = 1 << 11,
	MAKE_SYM = 1 << 12,
	REFER = 1 << 13,     /* ABI 2 */
	TRUNCATE = 1 << 14,  /* ABI 3 */
	IOCTL_DEV = 1 << 15, /* ABI 5 */

	OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
	READ = EXECUTE | READ_FILE | READ_DIR,
	WRITE = READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | MAKE_REG | REMOVE_FILE | MAKE_DIR | REMOVE_DIR | REFER,
	DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV,
};

static const uint64_t ALL_SINCE[] = { 0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1 };

struct ruleset {
	uint64_t files, net, scoped;
};

struct beneath {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

static long version(void)
{
	return syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
}

static uint64_t handled;
static int rules = -1;

/* Handles every right of this kernel's ABI, so that what no rule allows is refused. */
static void begin_rules(void)
{
	long abi = version();
	struct ruleset all = { 0 };

	if (abi < 1)
		die("this kernel has no Landlock");
	all.files = handled = ALL_SINCE[abi < 5 ? abi : 5];
	all.net = abi >= 4 ? 3 : 0;    /* bind, connect */
	all.scoped = abi >= 6 ? 3 : 0; /* abstract sockets, signals */
	rules = syscall(CREATE_RULESET, &all, abi >= 6 ? sizeof all : abi >= 4 ? 16 : 8, 0);
	if (rules < 0)
		die("Landlock takes no rules");
}

/* Has what is opened at a place be used.  Closes it. */
static void allow_opened(int place, uint64_t rights, const char *name)
{
	struct beneath rule = { .parent = place };
	struct stat about;

	if (fstat(place, &about) < 0)
		die("%s", name);
	rule.allowed = rights & handled & (S_ISDIR(about.st_mode) ? ~0ULL : OF_FILES);
	if (rule.allowed && syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0) < 0)
		die("Landlock takes no rule for %s", name);
	close(place);
}

static void allow(const char *path, uint64_t rights, bool may_lack)
{
	int place = open(path, O_PATH | O_CLOEXEC);

	if (place < 0 && may_lack && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return;
	if (place < 0)
		die("%s", path);
	allow_opened(place, rights, path);
}

static void end_rules(void)
{
	if (syscall(RESTRICT_SELF, rules, 0) < 0)
		die("Landlock");
	close(rules);
}

/* seccomp. */

#if defined(__x86_64__)
enum { ARCHITECTURE = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { ARCHITECTURE = AUDIT_ARCH_AARCH64 };
#else
#error "confine knows neither this processor nor its system calls"
#endif

#ifdef __x86_64__
#define OLD(name) __NR_##name, /* calls that only old architectures have */
#else
#define OLD(name)
#endif

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define WORD(field) (offsetof(struct seccomp_data, field)) /* of little-endian arguments, their lower half */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(field))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
#define SKIP(test, value, yes, no) BPF_JUMP(BPF_JMP | BPF_##test | BPF_K, value, yes, no)
#define FAIL(number) (SECCOMP_RET_ERRNO | (number))

static struct sock_filter program[400];
static unsigned short length;

static void add(size_t count, const struct sock_filter *lines)
{
	memcpy(program + length, lines, count * sizeof *lines);
	length += count;
}
#define ADD(...) add(COUNT(((struct sock_filter[]){ __VA_ARGS__ })), (struct sock_filter[]){ __VA_ARGS__ })

/* What begins every filter: calls of another architecture are not there. */
static void begin_filter(void)
{
	ADD(LOAD(arch), SKIP(JEQ, ARCHITECTURE, 1, 0), ANSWER(FAIL(ENOSYS)), LOAD(nr));
}

static void answer_each(size_t count, const int *numbers, unsigned answer)
{
	for (size_t i = 0; i < count; i++)
		ADD(SKIP(JEQ, numbers[i], 0, 1), ANSWER(answer));
}

static void filter_calls(void)
{
	struct sock_fprog whole = { .len = length, .filter = program };

	/* Without this flag, older kernels would slow the program down by mitigations that it has no use for. */
	if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &whole) < 0)
		die("seccomp takes no filter");
}

static void limit(int what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(what, &now) < 0)
		die("getrlimit");
	if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most)
		now.rlim_max = most;
	if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	if (setrlimit(what, &now) < 0)
		die("setrlimit");
}
