/* The first process of a virtual machine: makes a root file system and starts the guest agent in it.

   Runs from an initramfs that holds it, the modules it needs (/modules, with their order in /modules/list), and nothing
   else.  The kernel's command line says what to do:
       testbed.root=probe   say that the kernel boots, and power off
       testbed.root=features   the same, and say which congestion controls it has with the modules
       testbed.root=host    the root is a 9p share called `root`, read-only, below a tmpfs; modules are in another one,
                            called `modules`; testbed.agent=FILE is the guest agent there
       testbed.root=disk    the root is the first file system of the first disk, below a tmpfs, and its init goes on
       testbed.waits=1      before the root, once the modules are loaded and the agent runs, see become_one()
   A failure is said on the console, and powers the machine off. */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/random.h>
#include <net/if.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define NEW "/new"
#define SMALL "/small" /* a root that holds the agent only */
#define AGENT_STARTS_US 100000
#define AGENT "/run/qemu-ga"
#define PORTS "/sys/class/virtio-ports"
#define SHARE "trans=virtio,version=9p2000.L,msize=262144,cache=loose"

static void __attribute__((noreturn)) power_off(void)
{
    sync();
    reboot(RB_POWER_OFF);
    for (;;)
        pause();
}

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
    int error = errno;
    va_list words;
    va_start(words, format);
    fputs("testbed-vm: ", stdout);
    vprintf(format, words);
    printf(": %s\n", strerror(error));
    fflush(stdout);
    power_off();
}

static void need_mount(const char *kind, const char *source, const char *target, unsigned long flags, const char *data)
{
    mkdir(target, 0755);
    if (mount(source, target, kind, flags, data))
        fail("mount %s (%s) on %s", source, kind ? kind : "moved", target);
}

/* The value of KEY=VALUE on the kernel's command line; NULL without it. */
static char *option(const char *key)
{
    static char line[4096];
    static char value[4096];
    int file = open("/proc/cmdline", O_RDONLY);
    ssize_t size = read(file, line, sizeof line - 1);
    close(file);
    line[size > 0 ? size : 0] = 0;
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
        if (!strncmp(word, key, strlen(key)) && word[strlen(key)] == '=')
            return strcpy(value, word + strlen(key) + 1);
    return NULL;
}

static void load_modules(void)
{
    FILE *list = fopen("/modules/list", "r");
    char name[256], path[300];
    while (list && fscanf(list, "%255s", name) == 1) {
        snprintf(path, sizeof path, "/modules/%s", name);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0 || (syscall(SYS_finit_module, file, "", 0) && errno != EEXIST))
            fail("module %s", name);
        close(file);
    }
    if (list)
        fclose(list);
}

/* 64 bytes by the processor's own instruction: QEMU takes them from the random numbers of the kernel that it runs on. */
static void draw_random(void)
{
    struct {
        struct rand_pool_info head;
        unsigned long long words[8];
    } drawn = {.head = {.entropy_count = 512, .buf_size = 64}};
    for (int i = 0; i < 8; i++) {
        unsigned char is_drawn = 0;
        for (int tries = 0; !is_drawn && tries < 10; tries++)
            __asm__ volatile("rdrand %0; setc %1" : "=r"(drawn.words[i]), "=qm"(is_drawn) : : "cc");
        if (!is_drawn)
            fail("the processor has no random numbers");
    }
    int file = open("/dev/urandom", O_RDWR | O_CLOEXEC);
    if (file < 0 || ioctl(file, RNDADDENTROPY, &drawn) || ioctl(file, RNDRESEEDCRNG))
        fail("the random numbers");
    close(file);
}

/* Gives a card of the snapshot, ethNUMBER with the address 02:54:42:ff:ff:NUMBER, its own: XX:XX:XX:XX:XX:XX. */
static void set_address(int number, const char *address)
{
    struct ifreq card = {0};
    unsigned char *bytes = (unsigned char *)card.ifr_hwaddr.sa_data;
    unsigned char expected[] = {0x02, 0x54, 0x42, 0xff, 0xff, number};
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(card.ifr_name, sizeof card.ifr_name, "eth%d", number);
    if (ioctl(any, SIOCGIFHWADDR, &card))
        fail("the network card %s", card.ifr_name);
    errno = 0;
    if (memcmp(bytes, expected, sizeof expected))
        fail("%s is another network card", card.ifr_name);
    if (sscanf(address, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", bytes, bytes + 1, bytes + 2, bytes + 3, bytes + 4,
               bytes + 5) != 6)
        fail("the address %s", address);
    if (ioctl(any, SIOCSIFHWADDR, &card))
        fail("the address of %s", card.ifr_name);
    close(any);
}

/* What all machines of a snapshot share ends here: waits for a line that says what is this one's own, its name, the time
   (s and ns since 1970), and the addresses of its cards.  Random numbers are drawn once it has come, so after the
   snapshot.  A byte may get lost before the line, while QEMU reads the snapshot: an empty line stands there. */
static void become_one(void)
{
    char line[4096], *rest = line;
    struct termios plain;
    if (!tcgetattr(0, &plain)) {
        plain.c_lflag &= ~ECHO;
        tcsetattr(0, TCSANOW, &plain);
    }
    printf("testbed-vm: waits\n");
    fflush(stdout);
    do {
        if (!fgets(line, sizeof line, stdin))
            fail("what this machine is");
    } while (*line == '\n');
    struct timespec now = {0};
    strsep(&rest, " \n"); /* its name */
    if (!rest || sscanf(rest, "%ld %ld", &now.tv_sec, &now.tv_nsec) != 2 || clock_settime(CLOCK_REALTIME, &now))
        fail("the time");
    draw_random();
    strsep(&rest, " \n");
    strsep(&rest, " \n");
    const char *address;
    for (int number = 0; (address = strsep(&rest, " \n")) && *address; number++)
        set_address(number, address);
}

/* Copies a file, with the folders above it. */
static void copy(const char *path, int to)
{
    static char bytes[1 << 16];
    char folder[PATH_MAX];
    ssize_t size;
    for (const char *end = path; (end = strchr(end + 1, '/'));) {
        snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
        mkdirat(to, folder + 1, 0755);
    }
    int in = open(path, O_RDONLY | O_CLOEXEC), out = openat(to, path + 1, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    while ((size = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, size) != size)
            fail("copy of %s", path);
    if (size || close(out))
        fail("copy of %s", path);
    close(in);
}

/* Copies a program of /lower to a folder, with the libraries that it loads by its loader's own account. */
static void copy_program(const char *program, const char *folder)
{
    char line[PATH_MAX + 100], path[PATH_MAX];
    int both[2], to = open(folder, O_PATH | O_CLOEXEC);
    pid_t pid = fork();
    if (pid) {
        waitpid(pid, NULL, 0);
        return;
    }
    if (to < 0 || chroot("/lower") || pipe2(both, O_CLOEXEC))
        fail("copy of %s", program);
    if (!fork()) {
        dup2(both[1], 1);
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        execl(program, program, NULL);
        _exit(1);
    }
    close(both[1]);
    copy(program, to);
    for (FILE *said = fdopen(both[0], "r"); fgets(line, sizeof line, said);) {
        const char *begin = strchr(line, '/');
        if (begin && sscanf(begin, "%4095s", path) == 1)
            copy(path, to);
    }
    _exit(0);
}

/* What is mounted on /lower stays as it is: all writing goes to memory. */
static void overlay(void)
{
    need_mount("tmpfs", "tmpfs", "/writes", 0, "mode=755");
    mkdir("/writes/upper", 0755);
    mkdir("/writes/work", 0755);
    need_mount("overlay", "overlay", NEW, 0, "lowerdir=/lower,upperdir=/writes/upper,workdir=/writes/work");
}

static void move_into(const char *root)
{
    static const char *moved[] = {"/proc", "/sys", "/dev"};
    for (int i = 0; i < 3; i++) {
        char to[32];
        snprintf(to, sizeof to, "%s%s", root, moved[i]);
        need_mount(NULL, moved[i], to, MS_MOVE, NULL);
    }
    if (chdir(root))
        fail("the new root");
}

/* From the initramfs, which stays below. */
static void enter_root(const char *root)
{
    move_into(root);
    if (mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
        fail("the new root");
}

/* From the small root, together with the agent. */
static void swap_root(const char *root)
{
    move_into(root);
    if (syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
        fail("the new root");
}

/* `agent` is a file of the share; NULL if it runs already. */
static void set_up_host_root(const char *agent)
{
    char path[4200];
    static const char *fresh[] = {NEW "/run", NEW "/tmp", NEW "/var/tmp", NEW "/var/log"};
    need_mount("9p", "root", "/lower", MS_RDONLY, SHARE);
    overlay();
    need_mount("9p", "modules", NEW "/lib/modules", MS_RDONLY, SHARE);
    for (int i = 0; i < 4; i++)
        need_mount("tmpfs", "tmpfs", fresh[i], 0, "mode=1777");
    if (agent) {
        snprintf(path, sizeof path, "/lower%s", agent);
        close(open(NEW AGENT, O_WRONLY | O_CREAT, 0755));
        if (mount(path, NEW AGENT, NULL, MS_BIND, NULL))
            fail("the guest agent %s", agent);
        enter_root(NEW);
    } else {
        swap_root(NEW);
    }
    mkdir("/dev/pts", 0755);
    mount("devpts", "/dev/pts", "devpts", 0, NULL);
}

static void set_up_disk_root(void)
{
    static const char *disks[] = {"/dev/vda1", "/dev/vda"};
    static const char *kinds[] = {"ext4", "xfs", "btrfs"};
    mkdir("/lower", 0755);
    for (int i = 0; i < 6; i++)
        if (!mount(disks[i / 3], "/lower", kinds[i % 3], MS_RDONLY, NULL)) {
            overlay();
            enter_root(NEW);
            return;
        }
    fail("no file system on the disk");
}

/* The device of the port that the guest agent talks over; udev, which would give it a name, does not run. */
static const char *port(void)
{
    static char device[300];
    DIR *folder = opendir(PORTS);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[300], name[64] = "";
        snprintf(path, sizeof path, PORTS "/%s/name", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        if (fscanf(file, "%63s", name) == 1 && !strcmp(name, "org.qemu.guest_agent.0"))
            snprintf(device, sizeof device, "/dev/%s", entry->d_name);
        fclose(file);
    }
    if (folder)
        closedir(folder);
    if (!*device)
        fail("no port for the guest agent");
    return device;
}

static void say_features(void)
{
    char text[4096];
    load_modules();
    int file = open("/proc/sys/net/ipv4/tcp_available_congestion_control", O_RDONLY);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (size < 0)
        fail("the congestion controls");
    text[size] = 0;
    printf("testbed-features: %s", text);
}

static pid_t start_agent(const char *agent)
{
    const char *device = port();
    setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("HOME", "/run", 1);
    pid_t pid = fork();
    if (!pid) {
        setsid();
        execl(agent, agent, "--method", "virtio-serial", "--path", device, "--statedir", "/run", "--pidfile",
              "/run/agent.pid", NULL);
        fail("the guest agent");
    }
    return pid;
}

static void __attribute__((noreturn)) serve(pid_t pid)
{
    printf("testbed-vm: ready\n");
    fflush(stdout);
    for (int status;;) {
        pid_t ended = wait(&status);
        if (ended == pid || (ended < 0 && errno == ECHILD)) {
            errno = 0;
            fail("the guest agent ended with status %d", status);
        }
    }
}

/* For a machine that waits: its agent starts before that, once for all, from copies in memory.  It is stopped then, so it
   answers no one before the machine has its root. */
static pid_t start_early(const char *agent)
{
    static const char *folders[] = {SMALL "/proc", SMALL "/sys", SMALL "/dev", SMALL "/run"};
    need_mount("9p", "root", "/lower", MS_RDONLY, SHARE);
    need_mount("tmpfs", "tmpfs", SMALL, 0, "mode=755");
    copy_program(agent, SMALL);
    if (umount("/lower"))
        fail("umount /lower");
    for (int i = 0; i < 4; i++)
        mkdir(folders[i], 0755);
    enter_root(SMALL);
    pid_t pid = start_agent(agent);
    usleep(AGENT_STARTS_US);
    kill(pid, SIGSTOP);
    return pid;
}

int main(void)
{
    struct utsname name;
    need_mount("proc", "proc", "/proc", 0, NULL);
    need_mount("sysfs", "sysfs", "/sys", 0, NULL);
    need_mount("devtmpfs", "dev", "/dev", 0, NULL);
    const char *root = option("testbed.root");
    uname(&name);
    int is_asked = root && !strcmp(root, "features");
    if (!root || !strcmp(root, "probe") || is_asked) {
        printf("testbed-vm: boots %s\n", name.release);
        if (is_asked)
            say_features();
        fflush(stdout);
        power_off();
    }
    int is_disk = !strcmp(root, "disk");
    int waits = option("testbed.waits") != NULL;
    load_modules();
    if (is_disk) {
        set_up_disk_root();
        execl("/sbin/init", "/sbin/init", NULL);
        fail("/sbin/init");
    }
    const char *agent = option("testbed.agent");
    if (!agent)
        agent = "/usr/sbin/qemu-ga";
    if (!waits) {
        set_up_host_root(agent);
        serve(start_agent(AGENT));
    }
    pid_t pid = start_early(agent);
    become_one();
    set_up_host_root(NULL);
    kill(pid, SIGCONT);
    serve(pid);
}
