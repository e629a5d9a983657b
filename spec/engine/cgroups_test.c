/*
 * cgroups_test.c - finding the hierarchies, reading their files, and real groups where this host
 * lets us make them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_file.h"
#include "cgroups_internal.h"
#include "sandbox_limits.h"

static const struct limits limits = {.memory = 100ll * LIMITS_MIB,
                                     .disk = 10ll * LIMITS_MIB,
                                     .cpus = 0.5,
                                     .processes = 20,
                                     .open_files = 100};

static void sleep_ms(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* --- finding */

static const char hybrid_mounts[] =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:1 - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "39 31 0:36 /docker/abc /sys/fs/cgroup/the\\040pids rw master:3 propagate_from:2 - cgroup x "
    "rw,pids\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

static const char hybrid_own[] =
    "9:name=systemd:/\n8:pids:/docker/abc/def\n4:memory:/process_api/xyz\n"
    "3:cpuset:/\n2:cpu,cpuacct:/\n0::/user.slice\n";

static void hierarchies_of_a_hybrid_host_are_found(void **state) {
    (void)state;
    static struct cgroup_place places[CGROUP_PLACES_MAX];
    size_t count = cgroup_places_parse(hybrid_mounts, hybrid_own, places);
    assert_int_equal(count, 4);
    assert_string_equal(places[0].path, "/sys/fs/cgroup/cpu,cpuacct");
    assert_int_equal(places[0].controllers, CGROUP_CPU | CGROUP_CPUACCT);
    assert_string_equal(places[1].path, "/sys/fs/cgroup/memory/process_api/xyz");
    assert_string_equal(places[1].mount, "/sys/fs/cgroup/memory");
    assert_string_equal(places[2].path, "/sys/fs/cgroup/the pids/def");
    assert_true(places[3].unified);
    assert_string_equal(places[3].path, "/sys/fs/cgroup/unified/user.slice");
}

static void what_cannot_be_seen_is_left_out(void **state) {
    (void)state;
    static struct cgroup_place places[CGROUP_PLACES_MAX];
    static const char *const cases[][2] = {
        {"", ""},
        {"garbage\n - \n\n", "0::/\n"},
        {"1 2 0:1 / /cg rw - cgroup2 cgroup2 rw\n", ""}, /* not in a group */
        {"1 2 0:1 / /cg rw - cgroup2 cgroup2 rw\n",
         "0::/../../x\n"},                                        /* above our namespace's root */
        {"1 2 0:1 /a /cg rw - cgroup2 cgroup2 rw\n", "0::/ab\n"}, /* in another part */
        {"1 2 0:1 / /cg rw - cgroup2\n", "0::/\n"},               /* cut off */
        {"1 2 0:1 / /cg rw - cgroup cgroup rw,blkio\n", "3:blkio:/\n"},
        {"1 2 0:1 / /cg rw - cgroup cgroup rw,memory\n", "3:memory\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cgroup_places_parse(cases[i][0], cases[i][1], places), 0);
    assert_int_equal(cgroup_places_parse("1 2 0:1 /a /cg rw - cgroup2 cgroup2 rw\n"
                                         "1 2 0:1 /a /other rw - cgroup2 cgroup2 rw\n",
                                         "0::/a\n", places),
                     1);
    assert_string_equal(places[0].path, "/cg");
}

/* --- files */

static char folder[] = "/tmp/stepbox-cgroups.XXXXXX";
static int folder_fd = -1;

static void put(const char *file, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/box/%s", folder, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static const char *got(const char *file) {
    static char text[CGROUP_FILE_MAX];
    assert_int_equal(cgroup_file_read(folder_fd, "box", file, text), 0);
    return text;
}

static int make_folder(void **state) {
    (void)state;
    char path[128];
    if (!mkdtemp(folder) || snprintf(path, sizeof path, "%s/box", folder) < 0 ||
        mkdir(path, 0700) < 0)
        return -1;
    folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder_fd < 0 ? -1 : 0;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    close(folder_fd);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* A group whose files are those of the folder. */
static struct cgroup in_folder(struct cgroups *cgroups, const struct cgroup_version *version) {
    *cgroups = (struct cgroups){.version = version,
                                .count = 1,
                                .oom_fd = -1,
                                .controllers = CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU |
                                               CGROUP_CPUACCT | CGROUP_FREEZER};
    cgroups->hierarchies[0] = (struct cgroup_hierarchy){
        .fd = folder_fd, .parent_fd = -1, .controllers = cgroups->controllers};
    return (struct cgroup){.cgroups = cgroups, .name = "box", .oom_fd = -1};
}

static void texts_are_read(void **state) {
    (void)state;
    int64_t number = 0;
    assert_true(cgroup_text_number("oom 1\noom_kill 7\n", "oom_kill", &number));
    assert_int_equal(number, 7);
    assert_false(cgroup_text_number("oom_kill_x 7\n", "oom_kill", &number));
    assert_false(cgroup_text_number("oom_kill x\n", "oom_kill", &number));
    assert_false(cgroup_text_number("oom_kill", "oom_kill", &number));
    assert_true(cgroup_text_has("cpuset cpu io memory\n", "cpu"));
    assert_false(cgroup_text_has("cpuset io", "cpu"));
    put("memory.max", "max\n");
    assert_int_equal(cgroup_file_read_number(folder_fd, "box", "memory.max", &number), 0);
    assert_true(number == CGROUP_NO_LIMIT);
    put("memory.max", "99999999999999999999999\n");
    assert_int_equal(cgroup_file_read_number(folder_fd, "box", "memory.max", &number), -1);
    assert_int_equal(cgroup_file_read_number(folder_fd, "box", "absent", &number), -1);
    assert_int_equal(errno, ENOENT);
}

static void version_2_is_written_and_read(void **state) {
    (void)state;
    struct cgroups cgroups;
    struct cgroup group = in_folder(&cgroups, &cgroup_v2);
    struct cgroup_stats stats;
    static const char *const files[] = {"memory.max", "pids.max", "cpu.max", "memory.swap.max",
                                        "cgroup.freeze"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put(files[i], "");
    assert_int_equal(cgroup_v2.limit(&group, &limits), 0);
    assert_string_equal(got("memory.max"), "104857600");
    assert_string_equal(got("pids.max"), "52");
    assert_string_equal(got("cpu.max"), "50000 100000");
    assert_string_equal(got("memory.swap.max"), "0");
    struct limits all = limits;
    all.cpus = (double)cgroup_processors();
    put("cpu.max", "");
    assert_int_equal(cgroup_v2.limit(&group, &all), 0);
    assert_string_equal(got("cpu.max"), "max 100000");
    put("memory.current", "30000000\n");
    put("memory.stat", "anon 1000\nfile 20000000\nkernel 5\nshmem 15000000\n");
    put("memory.events", "low 0\nhigh 0\nmax 3\noom 2\noom_kill 4\n");
    put("cpu.stat", "usage_usec 1500\nuser_usec 1\n");
    put("pids.current", "3\n");
    put("cgroup.events", "populated 1\nfrozen 1\n");
    cgroup_v2.read_stats(&group, &stats);
    assert_int_equal(stats.cpu_time, 1500000);
    assert_int_equal(stats.memory_cache, 5000000);
    assert_int_equal(stats.memory, 25000000);
    assert_int_equal(stats.processes, 3);
    assert_int_equal(stats.oom_kills, 4);
    assert_true(cgroup_v2.is_frozen(&group));
    assert_int_equal(cgroup_v2.freeze(&group, true), 0);
    assert_string_equal(got("cgroup.freeze"), "1");
}

static void what_is_not_counted_is_said(void **state) {
    (void)state;
    struct cgroups cgroups;
    struct cgroup group = in_folder(&cgroups, &cgroup_v2);
    struct cgroup_stats stats;
    static const char *const files[] = {"memory.current", "memory.stat",  "memory.events",
                                        "cpu.stat",       "pids.current", "cgroup.freeze"};
    char path[64];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "box/%s", files[i]);
        unlinkat(folder_fd, path, 0);
    }
    cgroup_v2.read_stats(&group, &stats);
    assert_int_equal(stats.cpu_time, -1);
    assert_int_equal(stats.memory, -1);
    assert_int_equal(stats.memory_cache, -1);
    assert_int_equal(stats.processes, -1);
    assert_int_equal(stats.oom_kills, -1);
    assert_int_equal(cgroup_v2.freeze(&group, true), -1);
    assert_int_equal(errno, ENOTSUP);
    group = in_folder(&cgroups, &cgroup_v1);
    cgroup_v1.read_stats(&group, &stats);
    assert_int_equal(stats.cpu_time, -1);
    assert_int_equal(stats.memory, -1);
    assert_int_equal(stats.oom_kills, -1);
}

static void version_1_is_written_and_read(void **state) {
    (void)state;
    struct cgroups cgroups;
    struct cgroup group = in_folder(&cgroups, &cgroup_v1);
    struct cgroup_stats stats;
    static const char *const files[] = {"memory.limit_in_bytes", "pids.max", "cpu.cfs_period_us",
                                        "cpu.cfs_quota_us", "freezer.state"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put(files[i], "");
    assert_int_equal(cgroup_v1.limit(&group, &limits), 0); /* without swap accounting */
    assert_string_equal(got("memory.limit_in_bytes"), "104857600");
    assert_string_equal(got("pids.max"), "52");
    assert_string_equal(got("cpu.cfs_quota_us"), "50000");
    put("cpu.cfs_quota_us", "");
    put("memory.kmem.tcp.limit_in_bytes", ""); /* before, a kernel without it */
    struct limits all = limits;
    all.cpus = (double)cgroup_processors();
    assert_int_equal(cgroup_v1.limit(&group, &all), 0);
    assert_string_equal(got("cpu.cfs_quota_us"), "-1");
    assert_string_equal(got("memory.kmem.tcp.limit_in_bytes"), "13107200");
    put("cpuacct.usage", "123\n");
    put("memory.usage_in_bytes", "1000\n");
    put("memory.stat", "cache 1\ntotal_cache 600\ntotal_shmem 100\n");
    put("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    put("pids.current", "5\n");
    put("freezer.state", "FREEZING\n");
    cgroup_v1.read_stats(&group, &stats);
    assert_int_equal(stats.cpu_time, 123);
    assert_int_equal(stats.memory, 500);
    assert_int_equal(stats.memory_cache, 500);
    assert_int_equal(stats.processes, 5);
    assert_int_equal(stats.oom_kills, 2);
    assert_false(cgroup_v1.is_frozen(&group));
    /* It is told again; a plain file keeps the end of what was there. */
    assert_memory_equal(got("freezer.state"), "FROZEN", strlen("FROZEN"));
    put("freezer.state", "FROZEN\n");
    assert_true(cgroup_v1.is_frozen(&group));
}

/* --- real groups */

static int64_t oom_kills;

static void on_oom(int64_t kills, void *user) {
    (void)user;
    oom_kills += kills;
}

/* A child that joins the group, says so, and does what it is there for. */
static pid_t start_in(struct cgroup *group, void (*work)(void)) {
    int fds[CGROUP_JOIN_MAX], ready[2];
    char byte;
    int count = cgroup_open_join(group, fds);
    assert_true(count > 0);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (cgroup_join(fds, count) < 0 || write(ready[1], "x", 1) != 1)
            _exit(100);
        work();
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    return pid;
}

static void spin(void) {
    for (;;)
        continue;
}

static void take_memory(void) {
    for (int i = 0; i < 300; i++) {
        char *piece =
            mmap(NULL, LIMITS_MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (piece == MAP_FAILED)
            _exit(3);
        memset(piece, 1, LIMITS_MIB);
    }
}

/* Exits with how many processes it could start. */
static void fork_many(void) {
    int made = 0;
    while (made < 200) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            pause();
            _exit(0);
        }
        made++;
    }
    _exit(made);
}

static struct cgroups *open_or_skip(struct ev_loop *loop) {
    struct cgroups *cgroups = cgroups_open(loop, 1024ll * LIMITS_MIB);
    assert_non_null(cgroups);
    if (cgroups->version)
        return cgroups;
    print_message("skipped: %s\n", cgroups->reason);
    cgroups_close(cgroups);
    skip();
    return NULL;
}

static int wait_status(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void run_for(struct ev_loop *loop, double seconds) {
    double end = ev_time() + seconds;
    while (ev_time() < end) {
        ev_run(loop, EVRUN_NOWAIT);
        sleep_ms(5);
    }
}

static void limits_of_a_real_group_hold(void **state) {
    (void)state;
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    struct cgroups *cgroups = open_or_skip(loop);
    struct cgroup *group = cgroup_make(cgroups, "box", &limits, on_oom, NULL);
    assert_non_null(group);

    /* The same without a group succeeds: 300 MiB, 100 processes. */
    pid_t free_one = fork();
    if (free_one == 0) {
        take_memory();
        _exit(0);
    }
    assert_int_equal(wait_status(free_one), 0);
    int status = wait_status(start_in(group, take_memory));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    run_for(loop, 0.3);
    assert_int_equal(oom_kills, 1);

    status = wait_status(start_in(group, fork_many));
    assert_true(WIFEXITED(status));
    assert_in_range(WEXITSTATUS(status), 10, limits.processes + LIMITS_GROUP_PROCESSES);
    cgroup_kill(group);

    pid_t pid = start_in(group, spin);
    struct cgroup_stats before, after;
    cgroup_read_stats(group, &before);
    sleep_ms(600);
    cgroup_read_stats(group, &after);
    kill(pid, SIGKILL);
    wait_status(pid);
    if (before.cpu_time >= 0) /* half a processor */
        assert_in_range(after.cpu_time - before.cpu_time, 50000000, 450000000);
    assert_true(after.processes >= 1);
    assert_true(after.memory > 0);
    cgroup_free(group);
    run_for(loop, 0.3);
    assert_null(cgroups->dying);
    cgroups_close(cgroups);
}

static char state_of(pid_t pid) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    return strrchr(text, ')')[2];
}

static void freezes_and_kills(struct cgroup *group) {
    pid_t pid = start_in(group, spin);
    assert_false(cgroup_is_frozen(group));
    assert_int_equal(cgroup_freeze(group, true), 0);
    for (int i = 0; i < 200 && !cgroup_is_frozen(group); i++)
        sleep_ms(5);
    assert_true(cgroup_is_frozen(group));
    assert_int_not_equal(state_of(pid), 'R');
    assert_int_equal(cgroup_freeze(group, false), 0);
    for (int i = 0; i < 200 && state_of(pid) != 'R'; i++)
        sleep_ms(5);
    assert_int_equal(state_of(pid), 'R');
    assert_int_equal(cgroup_freeze(group, true), 0);
    cgroup_kill(group);
    int status = wait_status(pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_real_group_freezes_and_dies_frozen(void **state) {
    (void)state;
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    struct cgroups *cgroups = open_or_skip(loop);
    struct cgroup *group = cgroup_make(cgroups, "box", &limits, on_oom, NULL);
    assert_non_null(group);
    freezes_and_kills(group);
    cgroup_free(group);
    run_for(loop, 0.2);
    assert_null(cgroups->dying);
    cgroups_close(cgroups);
}

/* Where controllers are bound to version 1, version 2 can still freeze and kill. */
static void version_2_freezes_and_kills_without_controllers(void **state) {
    (void)state;
    static struct cgroup_place places[CGROUP_PLACES_MAX];
    size_t count = cgroup_places_find(places), at = 0;
    while (at < count && !places[at].unified)
        at++;
    int fd = at < count ? open(places[at].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    char name[64];
    snprintf(name, sizeof name, "stepbox-test-%d", (int)getpid());
    if (fd < 0 || mkdirat(fd, name, 0755) < 0) {
        print_message("skipped: no group of version 2 can be made here: %s\n", strerror(errno));
        skip();
    }
    struct cgroups cgroups = {.version = &cgroup_v2, .count = 1, .oom_fd = -1};
    cgroups.hierarchies[0] = (struct cgroup_hierarchy){.fd = fd, .parent_fd = -1};
    struct cgroup group = {.cgroups = &cgroups, .oom_fd = -1};
    snprintf(group.name, sizeof group.name, "%s", name);
    freezes_and_kills(&group);
    for (int i = 0; i < 100 && unlinkat(fd, name, AT_REMOVEDIR) < 0; i++)
        sleep_ms(5);
    assert_int_equal(faccessat(fd, name, F_OK, 0), -1);
    close(fd);
}

static void what_a_dead_process_left_is_swept(void **state) {
    (void)state;
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    struct cgroups *ours = open_or_skip(loop);
    char path[128], theirs[CGROUP_NAME_MAX];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct cgroups *cgroups = cgroups_open(loop, 1024ll * LIMITS_MIB);
        if (!cgroup_make(cgroups, "box", &limits, on_oom, NULL) ||
            write(ends[1], cgroups->base, sizeof cgroups->base) < 0)
            _exit(1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ends[0], theirs, sizeof theirs), sizeof theirs);
    close(ends[0]), close(ends[1]);
    snprintf(path, sizeof path, "%s/box", theirs);
    int parent = ours->hierarchies[0].parent_fd;
    assert_int_equal(faccessat(parent, path, F_OK, 0), 0);
    assert_int_equal(cgroups_sweep(), 0); /* it lives */
    assert_int_equal(faccessat(parent, path, F_OK, 0), 0);
    kill(pid, SIGKILL);
    while (state_of(pid) != 'Z')
        sleep_ms(1);
    assert_int_equal(cgroups_sweep(), 0); /* also before anybody has waited for it */
    wait_status(pid);
    assert_int_equal(faccessat(parent, theirs, F_OK, 0), -1);
    assert_int_equal(faccessat(parent, ours->base, F_OK, 0), 0);
    cgroups_close(ours);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hierarchies_of_a_hybrid_host_are_found),
        cmocka_unit_test(what_cannot_be_seen_is_left_out),
        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(version_2_is_written_and_read),
        cmocka_unit_test(what_is_not_counted_is_said),
        cmocka_unit_test(version_1_is_written_and_read),
        cmocka_unit_test(limits_of_a_real_group_hold),
        cmocka_unit_test(a_real_group_freezes_and_dies_frozen),
        cmocka_unit_test(version_2_freezes_and_kills_without_controllers),
        cmocka_unit_test(what_a_dead_process_left_is_swept),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
