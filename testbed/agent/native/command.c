/*
 * command: runs unmodified programs in network namespaces of one kernel, as one measurement.
 *
 *   command --work DIR --space BYTES --out DIR --linger NS [--files DIR|hostfs:DIR] [--host NETNS]... [--collect PATTERN]...
 *           [--program NAME ROLE NETNS USER LIMIT READY READY-LIMIT RUNS START PAUSE STOP ENVS WORDS
 *                      ENV... WORD...]...
 *
 * ROLE is `server` (started one after the other, each when the one before is ready, and stopped at the end) or `client`
 * (started together when all servers are ready; each RUNS times, START after that and PAUSE after its last end).
 * USER is a name, or - for the user of this process.  READY is udp:PORT, tcp:PORT, output:TEXT, file:PATH, end (it ends
 * with status 0), or - (at once).  STOP is the number of a signal.  Times are ns of CLOCK_MONOTONIC.
 *
 * Each program runs in WORK/NAME, a folder of a tmpfs of SPACE bytes, with links to all in FILES (hostfs: a folder of
 * the host of a lab kernel), and a folder `out`.
 * What it wrote goes to OUT/command-NAME-RUN.out and .err; what matches a PATTERN below its folder to
 * OUT/command-NAME-RUN-PATH, with `-` for `/`.  Then the folder is emptied.  The counters of every HOST before the clients, at their end and after that time go to
 * OUT/command-NETNS-WHEN.txt.
 *
 * We are the parent of all orphans, so a program that forks away is found, and ended.
 *
 *   command --part PART MOST ...      the same for programs of one host among several, each with a kernel of its own
 *   command --await PART              until the server of such a part is ready (status 0); if that cannot become true any
 *                                     more, the reason goes to standard error (status 1)
 *   command --now                     writes `begin NS`
 *
 * A part lives in namespaces of its own for processes and mounts, so nothing outlasts it; while it runs, and once its
 * server is ready, there is an abstract socket of a certain name.  NETNS may be `-`, the one that
 * it is started in, and --files tar:FILE.  Servers go on until SIGTERM.  It counts nothing, has no --out, and writes
 * `file NAME BYTES` and the bytes of each file to standard output at its end, up to MOST bytes (0: any number); the
 * reason of a failure goes to standard error.
 *
 * Written to standard output, one line each:
 *   space BYTES LINGER                  told NAME LIMIT READY-LIMIT RUNS START PAUSE STOP      as it was understood
 *   ready NAME NS                       begin NS     all servers are ready     end NS    the last client ended
 *   run NAME N BEGIN END STATUS         STATUS is negative if a signal ended it
 *   stopped NAME N STATUS HOW           HOW is itself, asked or killed
 *   left NAME COMM                      a process that the program started and that outlived it
 *   collected NAME N FILE
 *   failed NAME N WHY                   the first thing that went wrong, and the last line
 *   done
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fnmatch.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "common.h"

enum {
	MAX_PROGRAMS = 64, MAX_HOSTS = 256, MAX_PATTERNS = 64, MAX_FILES = 256, MAX_GROUPS = 256,
	OUTPUT_BYTES = 16 << 20,      /* of one program's output */
	LOOK_FIRST = 1000000, LOOK_LAST = 20000000,
	STORY_BYTES = 2048,
};

static const long long GRACE = 2000000000LL;
static const long long BEGIN_LIMIT = 10000000000LL;     /* for a part to begin, and to say why it ended */
static const char MARK[] = "TESTBED_PROGRAM=";

struct program {
	const char *name, *role, *netns, *user, *ready;
	long long limit_ns, ready_limit_ns, start_ns, pause_ns;
	int runs, stop, envs, words;
	char **env, **word;

	pid_t pid;                    /* 0: does not run */
	int run, status;
	bool ended, is_ready;
	long long begin_ns, due_ns;
};

static struct program programs[MAX_PROGRAMS];
static const char *hosts[MAX_HOSTS], *patterns[MAX_PATTERNS];
static int count, host_count, pattern_count;
static const char *work, *out, *files;
static long long space, linger;
static int home;

static struct program *copied;        /* whose files nftw() looks at */
static size_t root_length;
static int collected;
static bool too_many;

static const char *part;              /* its name; NULL: we are none */
static long long most;
static bool is_ending;                /* SIGTERM came */

static void stop_all(void);
static void send_files(void);
static void tell(struct program *p, const char *why);

static bool is(const char *one, const char *other)
{
	return !strcmp(one, other);
}

static void failed(struct program *p, const char *format, ...)
{
	static bool is_failing;
	va_list arguments;
	char why[4096];

	if (is_failing)           /* while everything is stopped: the first reason counts */
		return;
	is_failing = true;
	va_start(arguments, format);
	vsnprintf(why, sizeof why, format, arguments);
	va_end(arguments);
	stop_all();
	printf("failed %s %d %s\n", p->name, p->run, why);
	if (part)
		tell(p, why);
	send_files();
	exit(1);
}

static char *path(const char *format, ...)
{
	va_list arguments;
	char *made;

	va_start(arguments, format);
	if (vasprintf(&made, format, arguments) < 0)
		die("no memory");
	va_end(arguments);
	return made;
}

static void copy(const char *from, const char *to, long long most)
{
	char buffer[65536];
	long long done = 0;
	ssize_t length;
	int source = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (source < 0)
		die("cannot read %s", from);
	if (target < 0)
		die("cannot write %s", to);
	while (done < most && (length = read(source, buffer, sizeof buffer)) > 0) {
		if (write(target, buffer, length) != length)
			die("cannot write %s", to);
		done += length;
	}
	close(source);
	close(target);
}

static void back_home(void)
{
	if (setns(home, CLONE_NEWNET) < 0)
		die("cannot leave a network namespace");
}

static void count_hosts(const char *when)
{
	static const char *const sources[] = { "snmp", "netstat", "snmp6" };

	for (int i = 0; i < host_count; i++) {
		FILE *to = fopen(path("%s/command-%s-%s.txt", out, hosts[i], when), "we");

		if (!to)
			die("cannot write the counters of %s", hosts[i]);
		enter(hosts[i]);
		for (size_t n = 0; n < sizeof sources / sizeof *sources; n++) {
			char line[8192];
			FILE *from = fopen(path("/proc/thread-self/net/%s", sources[n]), "re");

			while (from && fgets(line, sizeof line, from))
				fputs(line, to);
			if (from)
				fclose(from);
		}
		back_home();
		fclose(to);
	}
}

/* --- folders ------------------------------------------------------------------------------------------------------ */

static char *folder_of(struct program *p)
{
	return path("%s/%s", work, p->name);
}

static int remove_one(const char *name, const struct stat *about, int kind, struct FTW *at)
{
	(void)about, (void)kind, (void)at;
	return remove(name) && errno != ENOENT ? -1 : 0;
}

static int collect_one(const char *name, const struct stat *about, int kind, struct FTW *at)
{
	const char *below = name + root_length;
	char *target, *slash;

	(void)at;
	if (kind != FTW_F || !S_ISREG(about->st_mode) || *below != '/')
		return 0;
	below++;
	for (int i = 0; i < pattern_count; i++) {
		if (fnmatch(patterns[i], below, 0))
			continue;
		if (++collected > MAX_FILES) {
			too_many = true;
			return 0;
		}
		target = path("command-%s-%d-%s", copied->name, copied->run, below);
		for (slash = target; (slash = strpbrk(slash, "/\n\r"));)
			*slash = '-';
		copy(name, path("%s/%s", out, target), space);
		printf("collected %s %d %s\n", copied->name, copied->run, target);
		return 0;
	}
	return 0;
}

/* Of /etc/passwd: a static program cannot ask the C library's modules. */
static struct passwd *user_of(struct program *p)
{
	FILE *file = is(p->user, "-") ? NULL : fopen("/etc/passwd", "re");
	struct passwd *user = NULL;

	while (file && (user = fgetpwent(file)) && !is(user->pw_name, p->user))
		;
	if (file)
		fclose(file);
	return user;
}

static int join_groups(struct passwd *user)
{
	FILE *file = fopen("/etc/group", "re");
	gid_t groups[MAX_GROUPS] = { user->pw_gid };
	struct group *each;
	int found = 1;

	while (file && (each = fgetgrent(file)))
		for (char **member = each->gr_mem; *member; member++)
			if (is(*member, user->pw_name) && found < MAX_GROUPS)
				groups[found++] = each->gr_gid;
	if (file)
		fclose(file);
	return setgroups(found, groups);
}

static bool owns(struct program *p, char *folder)
{
	struct passwd *user = user_of(p);

	return is(p->user, "-") || (user && !chown(folder, user->pw_uid, user->pw_gid));
}

static void make_folder(struct program *p)
{
	char *folder = folder_of(p), *inner = path("%s/out", folder);
	DIR *given = files ? opendir(files) : NULL;
	struct dirent *each;

	if ((mkdir(folder, 0755) && errno != EEXIST) || mkdir(inner, 0755))
		failed(p, "its folder cannot be made: %s", strerror(errno));
	if (!owns(p, folder) || !owns(p, inner))
		failed(p, "there is no user %s here; allowed: a name of /etc/passwd", p->user);
	while (given && (each = readdir(given)))
		if (*each->d_name != '.' && symlink(path("%s/%s", files, each->d_name), path("%s/%s", folder, each->d_name)))
			failed(p, "a link to the file %s cannot be made: %s", each->d_name, strerror(errno));
	if (given)
		closedir(given);
}

/* Output, and what was asked for, is kept; all else goes. */
static void keep_files(struct program *p)
{
	static const char *const streams[] = { "out", "err" };
	char *folder = folder_of(p);
	long long largest = 0;
	struct statvfs about;

	for (int i = 0; i < 2; i++) {
		char *from = path("%s/.%s.%s", work, p->name, streams[i]);
		struct stat size;

		if (stat(from, &size) < 0)
			continue;
		if (size.st_size > largest)
			largest = size.st_size;
		copy(from, path("%s/command-%s-%d.%s", out, p->name, p->run, streams[i]), OUTPUT_BYTES);
		unlink(from);
	}
	copied = p;
	root_length = strlen(folder);
	nftw(folder, collect_one, 16, FTW_PHYS);
	bool is_full = !statvfs(work, &about) && !about.f_bavail;
	nftw(folder, remove_one, 16, FTW_PHYS | FTW_DEPTH);
	if (largest > OUTPUT_BYTES)
		failed(p, "it wrote %lld MiB of output; allowed: up to %d MiB", largest >> 20, OUTPUT_BYTES >> 20);
	if (is_full)
		failed(p, "its files and output filled the %lld MiB that there are; allowed: less, or a larger 'space'",
		       space >> 20);
	if (too_many)
		failed(p, "more than %d files are to be collected; allowed: fewer", MAX_FILES);
}

/* --- processes ---------------------------------------------------------------------------------------------------- */

/* What is wrong, told through a pipe that a successful start closes. */
static void refuse(int pipe_end, const char *what)
{
	dprintf(pipe_end, "%s: %s", what, strerror(errno));
	_exit(127);
}

/* Programs see who the node asks for names, if the network has a DNS server, as /etc/resolv.conf. */
static void asks_names_of(struct program *p, int pipe_end)
{
	const char *file = path("/run/tb-service/%s/resolv.conf", strncmp(p->netns, "tb-", 3) ? p->netns : p->netns + 3);

	if (!access(file, R_OK) && mount(file, "/etc/resolv.conf", NULL, MS_BIND, NULL))
		refuse(pipe_end, "/etc/resolv.conf cannot be mounted");
}

static void become(struct program *p, int pipe_end)
{
	char *folder = folder_of(p);
	struct passwd *user = user_of(p);
	sigset_t none;
	int null = open("/dev/null", O_RDONLY), to[2];

	for (int i = 0; i < 2; i++) {
		to[i] = open(path("%s/.%s.%s", work, p->name, i ? "err" : "out"), O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0644);
		if (to[i] < 0)
			refuse(pipe_end, "its output cannot be opened");
	}
	if (dup2(null, 0) < 0 || dup2(to[0], 1) < 0 || dup2(to[1], 2) < 0)
		refuse(pipe_end, "its output cannot be opened");
	setsid();
	if (!is(p->netns, "-"))
		enter(p->netns);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) ||
	    (mount("sysfs", "/sys", "sysfs", 0, NULL) && errno != EBUSY))        /* it is there already */
		refuse(pipe_end, "its /sys cannot be mounted");
	asks_names_of(p, pipe_end);
	if (chdir(folder))
		refuse(pipe_end, "its folder cannot be entered");
	if (user && (join_groups(user) || setgid(user->pw_gid) || setuid(user->pw_uid)))
		refuse(pipe_end, "its user cannot be set");
	setenv("HOME", folder, 1);
	setenv("TESTBED_PROGRAM", p->name, 1);
	for (int i = 0; i < p->envs; i++)
		putenv(p->env[i]);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	fcntl(pipe_end, F_SETFD, FD_CLOEXEC);
	for (int fd = 3; fd < 64; fd++)
		if (fd != pipe_end)
			close(fd);
	execvp(p->word[0], p->word);
	refuse(pipe_end, "it cannot be started");
}

static void start(struct program *p)
{
	char why[512];
	ssize_t length;
	int ends[2];

	p->run++;
	make_folder(p);
	if (pipe2(ends, O_CLOEXEC) < 0)
		die("no pipe");
	fflush(stdout);
	p->ended = false;
	p->begin_ns = now_ns();
	p->pid = fork();
	if (p->pid < 0)
		die("cannot fork");
	if (!p->pid) {
		close(ends[0]);
		become(p, ends[1]);
	}
	close(ends[1]);
	length = read(ends[0], why, sizeof why - 1);
	close(ends[0]);
	if (length > 0) {
		why[length] = 0;
		failed(p, "%s", why);
	}
}

static bool parent_of(pid_t pid, pid_t *parent, char *comm, char *state)
{
	char text[512], *after;
	FILE *file = fopen(path("/proc/%d/stat", pid), "re");
	size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;

	if (file)
		fclose(file);
	text[length] = 0;
	after = strrchr(text, ')');
	if (!after || sscanf(after + 1, " %c %d", state, parent) != 2 || !strchr(text, '('))
		return false;
	*after = 0;
	snprintf(comm, 64, "%s", strchr(text, '(') + 1);
	return true;
}

static bool is_marked(pid_t pid, const char *name)
{
	char text[65536], *mark = path("%s%s", MARK, name);
	FILE *file = fopen(path("/proc/%d/environ", pid), "re");
	size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
	bool found = false;

	if (file)
		fclose(file);
	text[length] = 0;
	for (char *each = text; each < text + length; each += strlen(each) + 1)
		found |= is(each, mark);
	return found;
}

static bool is_ours(pid_t pid)
{
	for (int i = 0; i < count; i++)
		if (programs[i].pid == pid)
			return true;
	return false;
}

/* Orphans of a program (NULL: of any); each is signalled, unless that is 0, and said if `says`. */
static int orphans(struct program *p, int number, bool says)
{
	DIR *proc = opendir("/proc");
	struct dirent *each;
	int found = 0;

	while (proc && (each = readdir(proc))) {
		pid_t pid = atoi(each->d_name), parent;
		char comm[64], state;

		if (pid <= 0 || !parent_of(pid, &parent, comm, &state) || parent != getpid() || is_ours(pid))
			continue;
		if (state == 'Z' || (p && !is_marked(pid, p->name)))
			continue;
		found++;
		for (char *c = comm; *c; c++)
			if (*c <= ' ' || *c > '~')
				*c = '_';
		if (says)
			printf("left %s %s\n", p ? p->name : "-", comm);
		if (number)
			kill(pid, number);
	}
	if (proc)
		closedir(proc);
	return found;
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (int i = 0; i < count; i++)
			if (programs[i].pid == pid) {
				programs[i].pid = 0;
				programs[i].ended = true;
				programs[i].status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
			}
}

/* Until a child ends, but not after `until_ns`. */
static void pause_until(long long until_ns)
{
	long long left = until_ns - now_ns();
	struct timespec wait = { left > 0 ? left / SECOND : 0, left > 0 ? left % SECOND : 0 };
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	got = sigtimedwait(&set, NULL, &wait);
	if (got == SIGTERM && part)
		is_ending = true;
	else if (got == SIGTERM) {
		stop_all();
		exit(1);
	}
	reap();
}

static void wait_for_end(struct program *p, long long until_ns)
{
	while ((p->pid || orphans(p, 0, false)) && now_ns() < until_ns)
		pause_until(now_ns() + 5000000 < until_ns ? now_ns() + 5000000 : until_ns);
}

static void end_orphans(struct program *p)
{
	for (int i = 0; orphans(p, SIGKILL, false) && i < 100; i++)
		pause_until(now_ns() + 1000000);
	reap();
}

static void stop(struct program *p)
{
	const char *how = "itself";
	bool runs = p->pid != 0;

	if (p->run == 0 || (!runs && is(p->role, "client")))
		return;
	if (runs || orphans(p, 0, false)) {
		how = "asked";
		if (runs)
			kill(-p->pid, p->stop);
		orphans(p, p->stop, false);
		wait_for_end(p, now_ns() + GRACE);
	}
	if (p->pid) {
		how = "killed";
		kill(-p->pid, SIGKILL);
		wait_for_end(p, now_ns() + GRACE);
	}
	orphans(p, 0, true);
	end_orphans(p);
	printf("stopped %s %d %d %s\n", p->name, p->run, p->ended ? p->status : -SIGKILL, how);
}

static void stop_all(void)
{
	static bool stopping;

	if (stopping)
		return;
	stopping = true;
	for (int i = count - 1; i >= 0; i--)
		if (programs[i].run && (programs[i].pid || is(programs[i].role, "server"))) {
			stop(&programs[i]);
			keep_files(&programs[i]);
		}
	for (int i = 0; i < 100 && orphans(NULL, SIGKILL, i == 0); i++)
		pause_until(now_ns() + 1000000);
	stopping = false;
}

/* --- readiness ---------------------------------------------------------------------------------------------------- */

static bool has_port(struct program *p, const char *kind, unsigned port)
{
	bool found = false, is_tcp = is(kind, "tcp");

	if (!is(p->netns, "-"))
		enter(p->netns);
	for (int v6 = 0; v6 < 2; v6++) {
		char line[512];
		FILE *file = fopen(path("/proc/thread-self/net/%s%s", kind, v6 ? "6" : ""), "re");
		unsigned local, state;

		while (file && fgets(line, sizeof line, file))
			if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &local, &state) == 2)
				found |= local == port && (!is_tcp || state == 10);
		if (file)
			fclose(file);
	}
	back_home();
	return found;
}

static bool has_text(struct program *p, const char *text)
{
	for (int i = 0; i < 2; i++) {
		static char said[OUTPUT_BYTES];
		FILE *file = fopen(path("%s/.%s.%s", work, p->name, i ? "err" : "out"), "re");
		size_t length = file ? fread(said, 1, sizeof said, file) : 0;

		if (file)
			fclose(file);
		if (memmem(said, length, text, strlen(text)))
			return true;
	}
	return false;
}

static bool looks_ready(struct program *p)
{
	const char *value = strchr(p->ready, ':');

	if (is(p->ready, "-"))
		return true;
	if (is(p->ready, "end"))
		return p->ended;
	value++;
	if (p->ready[0] == 'o')
		return has_text(p, value);
	if (p->ready[0] == 'f')
		return !access(value[0] == '/' ? value : path("%s/%s", folder_of(p), value), F_OK);
	return has_port(p, p->ready[0] == 't' ? "tcp" : "udp", atoi(value));
}

static void check_end(struct program *p, const char *when)
{
	if (!p->ended || (is(p->role, "server") && !p->status))
		return;
	keep_files(p);
	if (p->status < 0)
		failed(p, "signal %d (%s) ended it %s", -p->status, strsignal(-p->status), when);
	failed(p, "it ended with status %d %s", p->status, when);
}

static void await_ready(struct program *p)
{
	long long until = p->begin_ns + p->ready_limit_ns, look = LOOK_FIRST;

	while (reap(), !looks_ready(p)) {
		if (is_ending)
			failed(p, "the trial ended before it was ready");
		if (p->ended && (p->status || !orphans(p, 0, false))) {
			check_end(p, "before it was ready");
			keep_files(p);
			failed(p, "it ended with status 0 before it was ready (%s)", p->ready);
		}
		if (now_ns() >= until)
			failed(p, "it was not ready (%s) after %g s", p->ready, p->ready_limit_ns / 1e9);
		pause_until(now_ns() + look < until ? now_ns() + look : until);
		look = look * 2 < LOOK_LAST ? look * 2 : LOOK_LAST;
	}
	reap();
	check_end(p, is(p->ready, "end") ? "" : "before it was ready");
	p->is_ready = true;
	printf("ready %s %lld\n", p->name, now_ns());
}

/* --- clients ------------------------------------------------------------------------------------------------------ */

static void after_run(struct program *p, long long end_ns)
{
	if (orphans(p, 0, true))
		end_orphans(p);
	keep_files(p);
	printf("run %s %d %lld %lld %d\n", p->name, p->run, p->begin_ns, end_ns, p->status);
	if (p->status < 0)
		failed(p, "signal %d (%s) ended it", -p->status, strsignal(-p->status));
	if (p->status)
		failed(p, "it ended with status %d", p->status);
	p->ended = false;
	p->due_ns = end_ns + p->pause_ns;
}

static void run_clients(long long begin_ns)
{
	long long end_ns = begin_ns;
	bool goes_on = true;

	for (int i = 0; i < count; i++)
		programs[i].due_ns = is(programs[i].role, "client") ? begin_ns + programs[i].start_ns : 0;
	while (goes_on) {
		long long next = now_ns() + 3600 * SECOND;

		goes_on = false;
		for (int i = 0; i < count; i++) {
			struct program *p = &programs[i];

			if (is_ending)
				failed(p, "the trial ended while it ran");
			if (is(p->role, "server")) {
				check_end(p, "while the clients ran");
				continue;
			}
			if (p->ended) {
				end_ns = now_ns();
				if (!p->is_ready && p->run == p->runs)
					p->is_ready = true;
				after_run(p, end_ns);
			}
			if (!p->pid && p->run < p->runs && now_ns() >= p->due_ns)
				start(p);
			if (p->pid && now_ns() >= p->begin_ns + p->limit_ns)
				failed(p, "it still ran after its limit of %g s", p->limit_ns / 1e9);
			if (!p->pid && p->run == p->runs && !p->ended)
				continue;
			goes_on = true;
			long long event = p->pid ? p->begin_ns + p->limit_ns : p->due_ns;
			if (event < next)
				next = event;
		}
		reap();
		for (int i = 0; i < count; i++)
			if (programs[i].ended && is(programs[i].role, "client"))
				next = 0;
		if (goes_on && next)
			pause_until(next);
	}
	count_hosts("end");
	while (now_ns() < end_ns + linger)
		pause_until(end_ns + linger);
	for (int i = 0; i < count; i++)
		check_end(&programs[i], "after the clients");
	count_hosts("after");
	printf("end %lld\n", end_ns);
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

/* What the parent of a trial's steps says of a part that failed: the reason, and the end of what the program wrote. */
static void tell(struct program *p, const char *why)
{
	static const char *const streams[] = { "err", "out" };

	fprintf(stderr, "the program %s (", p->name);
	for (int i = 0; i < p->words; i++)
		fprintf(stderr, "%s%s", i ? " " : "", p->word[i]);
	fprintf(stderr, ")");
	if (p->runs > 1)
		fprintf(stderr, ", run %d", p->run);
	fprintf(stderr, ": %s", why);
	for (int i = 0; i < 2; i++) {
		char text[STORY_BYTES + 1];
		FILE *file = fopen(path("%s/command-%s-%d.%s", out, p->name, p->run, streams[i]), "re");
		size_t length = 0;

		if (file && (fseek(file, -STORY_BYTES, SEEK_END) == 0 || fseek(file, 0, SEEK_SET) == 0))
			length = fread(text, 1, STORY_BYTES, file);
		if (file)
			fclose(file);
		for (size_t n = 0; n < length; n++)
			if (((unsigned char)text[n] < ' ' && text[n] != '\n' && text[n] != '\t') || text[n] == 127)
				text[n] = '?';
		text[length] = 0;
		if (length) {
			fprintf(stderr, "; its %s ends:\n%s\n", i ? "output" : "standard error", text);
			return;
		}
	}
	fprintf(stderr, "; it wrote nothing\n");
}

static void send_files(void)
{
	DIR *folder = part ? opendir(out) : NULL;
	struct dirent *each;
	long long sent = 0;

	while (folder && (each = readdir(folder))) {
		struct stat about;
		int file;

		if (*each->d_name == '.' || fstatat(dirfd(folder), each->d_name, &about, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!S_ISREG(about.st_mode) || (most && sent + about.st_size > most))
			continue;
		file = openat(dirfd(folder), each->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		printf("file %s %lld\n", each->d_name, (long long)about.st_size);
		for (long long left = about.st_size; left > 0;) {
			char buffer[65536];
			ssize_t length = read(file, buffer, left < (long long)sizeof buffer ? left : (long long)sizeof buffer);

			if (length <= 0 || fwrite(buffer, 1, length, stdout) != (size_t)length)
				die("cannot send %s", each->d_name);
			left -= length;
		}
		close(file);
		sent += about.st_size;
	}
	if (folder)
		closedir(folder);
	fflush(stdout);
}

/* How much there is to send. */
static long long to_send(void)
{
	DIR *folder = opendir(out);
	struct dirent *each;
	struct stat about;
	long long total = 0;

	while (folder && (each = readdir(folder)))
		if (*each->d_name != '.' && !fstatat(dirfd(folder), each->d_name, &about, AT_SYMLINK_NOFOLLOW))
			total += about.st_size;
	if (folder)
		closedir(folder);
	return total;
}

/* The name by which a part says something, where it was started. */
static socklen_t name_of(struct sockaddr_un *name, const char *of, const char *what)
{
	int length;

	*name = (struct sockaddr_un) { .sun_family = AF_UNIX };
	length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "testbed-%s-%s", of, what);
	return offsetof(struct sockaddr_un, sun_path) + 1 + length;
}

static void show(const char *what)
{
	struct sockaddr_un name;
	socklen_t length = name_of(&name, part, what);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (void *)&name, length))
		die("cannot say that %s %s", part, what);
}

static bool is_shown(const char *of, const char *what)
{
	struct sockaddr_un name;
	socklen_t length = name_of(&name, of, what);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool found = fd >= 0 && !connect(fd, (void *)&name, length);

	close(fd);
	return found;
}

/* The process that carries on is the first one of a namespace, and ends with the one that waits here, as all in it. */
static void go_apart(void)
{
	sigset_t set;
	pid_t pid;

	show("runs");
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) || mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL))
		die("no namespaces");
	pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (mount("proc", "/proc", "proc", 0, NULL))
			die("cannot mount /proc");
		return;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	for (;;) {
		int got = sigwaitinfo(&set, NULL), status;

		if (got == SIGTERM)
			kill(pid, SIGTERM);
		else if (got == SIGCHLD && waitpid(pid, &status, WNOHANG) == pid) {
			exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
		}
	}
}

static void make_out(void)
{
	out = path("%s/.out", work);
	if (mkdir(out, 0755) || mount("tmpfs", out, "tmpfs", MS_NOATIME, path("mode=700,size=%lld", space + 2 * (long long)OUTPUT_BYTES * count)))
		die("no tmpfs at %s", out);
}

/*
 * Waits until the server is ready. It may be that the part has not begun yet. What a part that has ended says of itself
 * tells more, so we leave it the time for that.
 */
static int await_part(const char *of)
{
	long long until = now_ns() + BEGIN_LIMIT;
	bool began = false;

	for (;;) {
		bool runs = is_shown(of, "runs");

		if (is_shown(of, "ready"))
			return 0;
		errno = 0;
		if (began && !runs) {
			sleep_until(now_ns() + BEGIN_LIMIT);
			die("the program %s ended before it was ready", of);
		}
		if (!runs && now_ns() > until)
			die("the program %s did not begin in %g s", of, BEGIN_LIMIT / 1e9);
		began |= runs;
		sleep_until(now_ns() + LOOK_FIRST);
	}
}

static void hold(void)
{
	show("ready");
	while (!is_ending) {
		for (int i = 0; i < count; i++)
			check_end(&programs[i], "while the clients ran");
		pause_until(now_ns() + SECOND);
	}
	for (int i = 0; i < count; i++)
		check_end(&programs[i], "after the clients");
	is_ending = false;
}

static void end_part(void)
{
	long long total = to_send();

	if (most && total > most)
		failed(&programs[0], "its output and the files to collect are %lld KiB; allowed: up to %lld KiB from a virtual machine",
		       total >> 10, most >> 10);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void unpack(const char *file)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execlp("tar", "tar", "-x", "-f", file, "-C", files, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("cannot unpack the files of the programs with tar");
}

static void mount_files(void)
{
	const char *from = files;
	bool is_hostfs = !strncmp(from, "hostfs:", 7);

	files = path("%s/.files", work);
	if (mkdir(files, 0755))
		die("cannot make %s", files);
	if (!strncmp(from, "tar:", 4)) {
		if (mount("tmpfs", files, "tmpfs", MS_NOATIME, "mode=755"))
			die("no tmpfs at %s", files);
		unpack(from + 4);
		return;
	}
	if (is_hostfs ? mount("none", files, "hostfs", MS_NOATIME | MS_RDONLY, from + 7) :
			mount(from, files, NULL, MS_BIND, NULL))
		die("cannot mount the files %s", from);
}

static struct program *read_program(char **words)
{
	struct program *p = &programs[count++];

	*p = (struct program) {
		.name = words[0], .role = words[1], .netns = words[2], .user = words[3], .limit_ns = atoll(words[4]),
		.ready = words[5], .ready_limit_ns = atoll(words[6]), .runs = atoi(words[7]), .start_ns = atoll(words[8]),
		.pause_ns = atoll(words[9]), .stop = atoi(words[10]), .envs = atoi(words[11]), .words = atoi(words[12]),
		.env = words + 13, .word = calloc(atoi(words[12]) + 1, sizeof(char *)),
	};
	memcpy(p->word, p->env + p->envs, p->words * sizeof(char *));
	return p;
}

static void read_words(int argc, char **argv)
{
	for (int i = 1; i < argc;) {
		const char *option = argv[i++];

		if (is(option, "--work"))
			work = argv[i++];
		else if (is(option, "--space"))
			space = atoll(argv[i++]);
		else if (is(option, "--linger"))
			linger = atoll(argv[i++]);
		else if (is(option, "--out"))
			out = argv[i++];
		else if (is(option, "--part") && i + 2 <= argc) {
			part = argv[i++];
			most = atoll(argv[i++]);
		}
		else if (is(option, "--files"))
			files = argv[i++];
		else if (is(option, "--host") && host_count < MAX_HOSTS)
			hosts[host_count++] = argv[i++];
		else if (is(option, "--collect") && pattern_count < MAX_PATTERNS)
			patterns[pattern_count++] = argv[i++];
		else if (is(option, "--program") && count < MAX_PROGRAMS && i + 13 <= argc) {
			struct program *p = read_program(argv + i);

			i += 13 + p->envs + p->words;
			if (p->envs < 0 || p->words < 1 || i > argc)
				die("%s has fewer words than it was to have", p->name);
		} else
			die("unknown option %s", option);
	}
}

int main(int argc, char **argv)
{
	sigset_t set;
	long long begin_ns, entered_ns = now_ns();

	if (argc == 3 && is(argv[1], "--await"))
		return await_part(argv[2]);
	if (argc == 2 && is(argv[1], "--now")) {
		printf("begin %lld\n", now_ns());
		return 0;
	}
	read_words(argc, argv);
	printf("space %lld %lld\n", space, linger);
	for (int i = 0; i < count; i++) {
		const struct program *p = &programs[i];

		printf("told %s %lld %lld %d %lld %lld %d\n", p->name, p->limit_ns, p->ready_limit_ns, p->runs, p->start_ns,
		       p->pause_ns, p->stop);
	}
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	umask(022);
	if (part) {
		fflush(stdout);
		go_apart();
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if ((mkdir(work, 0755) && !(part && errno == EEXIST)) || mount("tmpfs", work, "tmpfs", MS_NOATIME, path("mode=755,size=%lld", space)))
		die("no tmpfs at %s", work);
	if (part)
		make_out();
	if (files)
		mount_files();
	for (int i = 0; i < count; i++)
		if (is(programs[i].role, "server")) {
			start(&programs[i]);
			await_ready(&programs[i]);
		}
	count_hosts("before");
	begin_ns = now_ns();
	if (part)
		printf("entered %lld\n", entered_ns);
	printf("begin %lld\n", begin_ns);
	fflush(stdout);
	if (part && is(programs[0].role, "server"))
		hold();
	else
		run_clients(begin_ns);
	stop_all();
	if (part)
		end_part();
	printf("done\n");
	send_files();
	return 0;
}
