/* watch_test.c - WatchDir: kinds of changes, subdirectories that come and go, ends. */
#include "watch_fixture.h"

#include "watch_descriptor.h"

#include <sys/mount.h>
#include <sys/xattr.h>

static void write_to(const char *name, const char *text) {
    int fd = open(below(name), O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void sees_every_kind_of_change(void **state) {
    (void)state;
    mkdir(below("w"), 0755);
    struct stream *stream = watch("{\"path\":\"w\"}");
    make_file_at(below("w/a"));
    expect_changes(stream, 1, "CREATE a\n");
    write_to("w/a", "text");
    expect_changes(stream, 1, "WRITE a\n");
    chmod(below("w/a"), 0600);
    expect_changes(stream, 1, "CHMOD a\n");
    rename(below("w/a"), below("w/b c\n"));
    expect_changes(stream, 2, "RENAME a\nCREATE b c\n\n");
    unlink(below("w/b c\n"));
    expect_changes(stream, 1, "REMOVE b c\n\n");
    mkdir(below("w/d"), 0755);
    rmdir(below("w/d"));
    expect_changes(stream, 2, "CREATE d\nREMOVE d\n");
    chmod(below("w"), 0700);
    expect_changes(stream, 1, "CHMOD .\n");
    make_file_at(below("w/\xff\xc3\xa9"));
    expect_changes(stream, 1, "CREATE \xef\xbf\xbd\xc3\xa9\n");
    unwatch(stream);
}

static void looks_below_only_when_asked_to(void **state) {
    (void)state;
    mkdir(below("w"), 0755);
    mkdir(below("w/d"), 0755);
    struct stream *flat = watch("{\"path\":\"w\"}"),
                  *deep = watch("{\"path\":\"w\",\"recursive\":true}");
    make_file_at(below("w/d/a"));
    make_file_at(below("w/b"));
    expect_changes(flat, 1, "CREATE b\n");
    expect_changes(deep, 2, "CREATE d/a\nCREATE b\n");
    unwatch(flat);
    unwatch(deep);
}

static void shows_entries_when_asked_to(void **state) {
    (void)state;
    mkdir(below("w"), 0755);
    assert_int_equal(symlink("w", below("link")), 0);
    struct stream *stream = watch("{\"path\":\"link/\",\"include_entry\":true,\"recursive\":true}");
    mkdir(below("w/d"), 0755);
    json_t *event = next_event(stream), *entry = json_object_get(event, "entry");
    assert_string_equal(text_member(entry, "path"), below("link/d"));
    assert_string_equal(text_member(entry, "type"), "FILE_TYPE_DIRECTORY");
    json_decref(event);
    rmdir(below("w/d"));
    event = next_event(stream);
    assert_string_equal(text_member(event, "type"), "EVENT_TYPE_REMOVE");
    assert_null(json_object_get(event, "entry"));
    json_decref(event);
    chmod(below("w"), 0700);
    event = next_event(stream);
    assert_string_equal(text_member(json_object_get(event, "entry"), "path"), below("link"));
    json_decref(event);
    unwatch(stream);
}

static void sees_what_is_made_in_new_directories_once(void **state) {
    (void)state;
    char command[300];
    mkdir(below("w"), 0755);
    struct stream *stream = watch("{\"path\":\"w\",\"recursive\":true}");
    for (int round = 0; round < 20; round++) {
        snprintf(command, sizeof command,
                 "cd '%s/w' && mkdir -p a/b/c && : >a/b/c/f && : >a/g && rm -r a", directory);
        run_shell(command);
        /* What was gone again before it could be seen may be missing, but nothing comes twice. */
        int a = 0, gone = 0;
        while (!gone) {
            json_t *event = next_event(stream);
            const char *name = text_member(event, "name"), *type = text_member(event, "type");
            if (strcmp(name, "a") == 0) {
                a += strcmp(type, "EVENT_TYPE_CREATE") == 0;
                gone = strcmp(type, "EVENT_TYPE_REMOVE") == 0;
            }
            json_decref(event);
        }
        assert_int_equal(a, 1);
    }
    unwatch(stream);
}

static int count_creates(struct stream *stream, const char *last, const char *counted) {
    int count = 0;
    for (bool done = false; !done;) {
        json_t *event = next_event(stream);
        const char *name = text_member(event, "name");
        if (strcmp(text_member(event, "type"), "EVENT_TYPE_CREATE") == 0) {
            count += strstr(name, counted) != NULL;
            done = strcmp(name, last) == 0;
        }
        json_decref(event);
    }
    return count;
}

static void loses_and_doubles_nothing_in_new_trees(void **state) {
    (void)state;
    char command[500];
    mkdir(below("w"), 0755);
    struct stream *stream = watch("{\"path\":\"w\",\"recursive\":true}");
    for (int round = 0; round < 10; round++) {
        snprintf(command, sizeof command,
                 "cd '%s/w' && mkdir -p %d/b/c && : >%d/b/c/file && for i in 1 2 3 4 5 6 7 8 9; do "
                 ": >%d/b/file$i; : >%d/file$i; mkdir %d/b/c/d$i; : >%d/b/c/d$i/file; done; : "
                 ">last-%d",
                 directory, round, round, round, round, round, round, round);
        run_shell(command);
        snprintf(command, sizeof command, "last-%d", round);
        /* All are made before the last one: what is not seen till then is in the answer already. */
        int found = count_creates(stream, command, "file");
        assert_int_equal(found, 1 + 3 * 9);
    }
    unwatch(stream);
}

static void follows_directories_that_move(void **state) {
    (void)state;
    mkdir(below("w"), 0755);
    mkdir(below("w/a"), 0755);
    mkdir(below("w/a/in"), 0755);
    mkdir(below("outside"), 0755);
    make_file_at(below("outside/file"));
    struct stream *stream = watch("{\"path\":\"w\",\"recursive\":true}");
    rename(below("w/a"), below("w/b"));
    expect_changes(stream, 2, "RENAME a\nCREATE b\n");
    make_file_at(below("w/b/in/x"));
    expect_changes(stream, 1, "CREATE b/in/x\n");
    rename(below("w/b"), below("gone"));
    expect_changes(stream, 1, "RENAME b\n");
    make_file_at(below("gone/in/unseen"));
    rename(below("outside"), below("w/came"));
    expect_changes(stream, 2, "CREATE came\nCREATE came/file\n");
    make_file_at(below("w/came/y"));
    expect_changes(stream, 1, "CREATE came/y\n");
    rename(below("w/came"), below("w/came2"));
    rename(below("w/came2"), below("w/came"));
    mkdir(below("w/d"), 0755);
    rename(below("w/came"), below("w/d/came"));
    make_file_at(below("w/d/came/z"));
    for (bool done = false; !done;) {
        json_t *event = next_event(stream);
        done = strcmp(text_member(event, "name"), "d/came/z") == 0;
        json_decref(event);
    }
    unwatch(stream);
}

static void ends_with_its_directory(void **state) {
    (void)state;
    mkdir(below("w"), 0755);
    struct stream *stream = watch("{\"path\":\"w\",\"recursive\":true}");
    rmdir(below("w"));
    expect_changes(stream, 1, "REMOVE .\n");
    expect_end(stream, "not_found", "was removed");
    unwatch(stream);
    mkdir(below("w"), 0755);
    stream = watch("{\"path\":\"w\"}");
    rename(below("w"), below("v"));
    expect_changes(stream, 1, "RENAME .\n");
    expect_end(stream, "not_found", "was moved away");
    unwatch(stream);
}

static void ends_when_the_file_system_goes(void **state) {
    (void)state;
    mkdir(below("w"), 0755);
    if (mount("none", below("w"), "tmpfs", 0, NULL))
        skip();
    struct stream *stream = watch("{\"path\":\"w\"}");
    assert_int_equal(umount2(below("w"), MNT_DETACH), 0);
    expect_end(stream, "unavailable", "unmounted");
    unwatch(stream);
}

static void names_what_cannot_be_watched(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"{\"path\":\"missing\"}", "not_found", "missing"},
        {"{\"path\":\"file\"}", "invalid_argument", "not a directory"},
        {"{\"path\":\"circle\"}", "failed_precondition", "circle"},
        {"{\"path\":\"~x\"}", "invalid_argument", "other users"},
        {"{\"path\":\"\",\"recursive\":1}", "invalid_argument", "booleans"},
        {"[]", "invalid_argument", "not an object"},
        {"{bad", "invalid_argument", ""},
    };
    struct stream stream = {.client = connect_envd(&from_client)};
    write_file("file", "");
    assert_int_equal(symlink("circle", below("circle")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        send_frame(stream.client, "WatchDir", "", cases[i][0]);
        stream.answer = read_head(stream.client);
        stream.used = 0;
        assert_int_equal(stream.answer.status, 200);
        expect_end(&stream, cases[i][1], cases[i][2]);
        free(stream.answer.body);
    }
    send_frame(stream.client, "WatchDir", "Authorization: Basic bm9ib2R5Og==\r\n", "{}");
    stream.answer = read_head(stream.client);
    stream.used = 0;
    expect_end(&stream, "unauthenticated", "no such user");
    free(stream.answer.body);
    request_json(stream.client, "POST", "/filesystem.Filesystem/WatchDir", "{}");
    struct answer answer = read_answer(stream.client, false);
    assert_int_equal(answer.status, 415);
    free(answer.body);
    disconnect(stream.client);
}

static void sends_keepalives_and_keeps_to_deadlines(void **state) {
    (void)state;
    bool end;
    double began = now();
    struct stream *stream =
        watch_with("Keepalive-Ping-Interval: 1\r\nConnect-Timeout-Ms: 1400\r\n", "{\"path\":\"\"}");
    json_t *message = next_message(stream, &end);
    assert_non_null(json_object_get(message, "keepalive"));
    json_decref(message);
    expect_end(stream, "deadline_exceeded", "");
    assert_true(now() - began >= 1.4 && now() - began < 3.0);
    unwatch(stream);
}

static void holds_no_descriptor_when_it_is_over(void **state) {
    (void)state;
    mkdir(below("w"), 0755);
    mkdir(below("w/d"), 0755);
    int descriptors = count_descriptors() + WATCH_DESCRIPTORS_KEPT;
    for (int i = 0; i < 500; i++) {
        struct stream *stream = watch("{\"path\":\"w\",\"recursive\":true}");
        if (i % 5 == 0)
            make_file_at(below("w/d/file"));
        unwatch(stream);
    }
    for (int i = 0; i < 1000 && count_descriptors() > descriptors; i++)
        usleep(2000);
    assert_true(count_descriptors() <= descriptors);
}

static void watches_large_trees_and_answers_others_meanwhile(void **state) {
    (void)state;
    char path[300];
    mkdir(below("w"), 0755);
    for (int i = 0; i < 5000; i++) {
        snprintf(path, sizeof path, "%s/w/%d", directory, i);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    struct client *other = connect_envd(&from_client);
    struct stream *stream = calloc(1, sizeof *stream);
    bool end;
    stream->client = connect_envd(&from_client);
    send_frame(stream->client, "WatchDir", "", "{\"path\":\"w\",\"recursive\":true}");
    get(other, "/health");
    double began = now();
    assert_int_equal(read_answer(other, false).status, 204);
    assert_true(!has_answer(stream->client) || now() - began < 0.1);
    stream->answer = read_head(stream->client);
    json_decref(next_message(stream, &end));
    make_file_at(below("w/4321/x"));
    expect_changes(stream, 1, "CREATE 4321/x\n");
    unwatch(stream);
    disconnect(other);
}

/* Blocks the loop's thread, so that nothing is read from the kernel. */
static void on_stall(struct ev_loop *loop, struct ev_async *async, int events) {
    (void)loop, (void)events;
    while (!*(volatile bool *)async->data)
        usleep(1000);
}

static void tells_when_changes_were_lost(void **state) {
    (void)state;
    volatile bool go_on = false;
    struct ev_async stall;
    char path[300], limit[20] = "";
    FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    assert_non_null(fgets(limit, sizeof limit, file));
    fclose(file);
    if (atoi(limit) > 100000)
        skip();
    mkdir(below("w"), 0755);
    struct stream *stream = watch("{\"path\":\"w\"}");
    ev_async_init(&stall, on_stall);
    stall.data = (void *)&go_on;
    ev_async_start(agent.loop, &stall);
    ev_async_send(agent.loop, &stall);
    /* The watch reads some before it is stalled, maybe. */
    for (int i = 0; i < atoi(limit) + 5000; i += 2) {
        snprintf(path, sizeof path, "%s/w/%d", directory, i % 10);
        make_file_at(path);
        unlink(path);
    }
    go_on = true;
    int count = 0;
    for (bool end = false; !end; count++) {
        json_t *message = next_message(stream, &end);
        if (end)
            expect_error(json_incref(json_object_get(message, "error")), "data_loss", "lost");
        json_decref(message);
    }
    assert_true(count > 1000);
    ev_async_stop(agent.loop, &stall);
    unwatch(stream);
}

static void bounds_what_waits_for_a_slow_reader(void **state) {
    (void)state;
    char path[600], long_name[240];
    memset(long_name, 'n', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    mkdir(below("w"), 0755);
    struct stream *stream = watch("{\"path\":\"w\",\"includeEntry\":true}");
    for (int i = 0; i < 120000; i++) {
        snprintf(path, sizeof path, "%s/w/%s%d", directory, long_name, i / 2 % 10);
        if (i % 2 == 0)
            make_file_at(path);
        else
            unlink(path);
    }
    for (bool end = false; !end;) {
        json_t *message = next_message(stream, &end);
        if (end)
            expect_error(json_incref(json_object_get(message, "error")), "resource_exhausted",
                         "not read fast enough");
        json_decref(message);
        if (stream->used > 1000000) { /* what was read is not needed any more */
            stream->answer.length -= stream->used;
            memmove(stream->answer.body, stream->answer.body + stream->used, stream->answer.length);
            stream->used = 0;
        }
    }
    unwatch(stream);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sees_every_kind_of_change),
        TEST(looks_below_only_when_asked_to),
        TEST(shows_entries_when_asked_to),
        TEST(sees_what_is_made_in_new_directories_once),
        TEST(loses_and_doubles_nothing_in_new_trees),
        TEST(follows_directories_that_move),
        TEST(ends_with_its_directory),
        TEST(ends_when_the_file_system_goes),
        TEST(names_what_cannot_be_watched),
        TEST(sends_keepalives_and_keeps_to_deadlines),
        TEST(holds_no_descriptor_when_it_is_over),
        TEST(watches_large_trees_and_answers_others_meanwhile),
        TEST(tells_when_changes_were_lost),
        TEST(bounds_what_waits_for_a_slow_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
