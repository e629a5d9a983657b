/* Whole answers of a server, from the status line on: each operation of the client ends with a
 * value or an error, and a cut answer is no success. */
#include "stepbox.h"

#include "../fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char directory[64], path[100];
static int listening;
static sb_loop *loop;
static sb_client *client;
static sb_box *box;

/* The connection that is answered, and what is left to send on it. */
static int connection = -1;
static struct fuzz_pieces answer;

static void remove_socket(void) {
    unlink(path);
    rmdir(directory);
}

/* Takes a connection and what comes on it; answers the first request that is whole enough. */
static void serve(void) {
    static char request[65536];
    char *piece;
    size_t length;
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && connection >= 0)
        close(fd); /* what the client tidies up with is not answered */
    else if (fd >= 0)
        connection = fd;
    if (connection < 0 || recv(connection, request, sizeof request, 0) <= 0)
        return;
    while (fuzz_next(&answer, &piece, &length)) {
        if (send(connection, piece, length, MSG_NOSIGNAL) < (ssize_t)length)
            break;
        sb_loop_step(loop, 0, NULL);
    }
    fuzz_stop(&answer);
    shutdown(connection, SHUT_WR);
}

static void close_connection(void) {
    if (connection >= 0)
        close(connection);
    connection = -1;
}

/* Drives the operation to its end with the answer. */
static void run(sb_op *op, const void *bytes, size_t length, unsigned how) {
    answer = fuzz_pieces(bytes, length, how);
    for (int i = 0; i < 300 && !sb_op_done(op); i++) {
        serve();
        sb_loop_step(loop, i < 100 ? 0 : 0.001, NULL);
        while (sb_op_next_event(op))
            ;
    }
    fuzz_stop(&answer);
    close_connection();
    for (int i = 0; i < 20 && !sb_op_done(op); i++)
        sb_loop_step(loop, 0.001, NULL);
    if (!sb_op_done(op))
        sb_op_cancel(op);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    static const char body[] = "{\"sandboxID\": \"i1\", \"envdVersion\": \"0.5.8\"}";
    char connected[200];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)argc, (void)argv;
    signal(SIGPIPE, SIG_IGN);
    strcpy(directory, "/tmp/stepbox-fuzz-XXXXXX");
    FUZZ_CHECK(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/s", directory);
    strcpy(address.sun_path, path);
    atexit(remove_socket);
    listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    FUZZ_CHECK(bind(listening, (struct sockaddr *)&address, sizeof address) == 0);
    FUZZ_CHECK(listen(listening, 64) == 0);
    loop = sb_loop_new(NULL);
    client = sb_client_new(loop, &(sb_client_options){.socket = path}, NULL);
    sb_op *op = sb_connect(client, "i1", NULL, NULL);
    FUZZ_CHECK(op);
    snprintf(connected, sizeof connected, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(body), body);
    run(op, connected, strlen(connected), 0);
    FUZZ_CHECK(sb_op_error(op, NULL) == SB_OK);
    box = sb_op_take_box(op);
    sb_op_free(op);
    FUZZ_CHECK(box);
    return 0;
}

/* The operations whose answers differ in kind. */
static sb_op *start(unsigned which) {
    switch (which % 16) {
    case 0:
        return sb_step(box, "1", 1, &(sb_step_options){.events = true}, NULL);
    case 1:
        return sb_command(box, "true", &(sb_command_options){.events = true, .detached = true},
                          NULL);
    case 2:
        return sb_list(client, NULL, NULL);
    case 3:
        return sb_box_info(box, NULL);
    case 4:
        return sb_file_list(box, "/", 1, NULL, NULL);
    case 5:
        return sb_file_read(box, "/f", NULL, NULL);
    case 6:
        return sb_file_read(box, "/f", &(sb_read_options){.offset = 3, .length = 5}, NULL);
    case 7:
        return sb_file_write(box, "/f", &(sb_write_options){.bytes = "abc", .length = 3}, NULL);
    case 8:
        return sb_watch(box, "/", &(sb_watch_options){.include_entry = true}, NULL);
    case 9:
        return sb_process_list(box, NULL);
    case 10:
        return sb_connect(client, "i1", NULL, NULL);
    case 11:
        return sb_box_is_running(box, NULL);
    case 12:
        return sb_box_metrics(box, NULL, NULL);
    case 13:
        return sb_box_logs(box, NULL, NULL);
    case 14:
        return sb_snapshots(client, NULL, NULL);
    default:
        return sb_box_pause(box, NULL);
    }
}

static void look(const sb_op *op) {
    sb_error error = {0};
    sb_code code = sb_op_error(op, &error);
    size_t length = 0;
    FUZZ_CHECK(code == error.code && (code == SB_OK || error.message[0]));
    FUZZ_CHECK(fuzz_is_printable(error.message));
    for (size_t i = 0; i < sb_op_info_count(op); i++)
        FUZZ_CHECK(sb_op_info(op, i)->id);
    for (size_t i = 0; i < sb_op_entry_count(op); i++)
        FUZZ_CHECK(sb_op_entry(op, i)->name);
    for (size_t i = 0; i < sb_op_process_count(op); i++)
        FUZZ_CHECK(sb_op_process(op, i)->pid > 0);
    const char *bytes = sb_op_bytes(op, &length);
    FUZZ_CHECK(!bytes || memchr(bytes, '\0', length + 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    unsigned which = fuzz_byte(&input), how = fuzz_byte(&input);
    sb_op *op = start(which);
    FUZZ_CHECK(op);
    run(op, input.bytes, input.length, how);
    look(op);
    sb_op_free(op);
    /* What it leaves to tidy up. */
    for (int i = 0; i < 3; i++) {
        serve();
        sb_loop_step(loop, 0, NULL);
    }
    close_connection();
    return 0;
}
