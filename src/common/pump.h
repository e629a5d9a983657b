/*
 * pump.h - passes bytes between two stream sockets: a client's connection and that of a target.
 *
 * 64 KiB at most wait in each direction; then the sender is not read until they are gone. The end
 * of one side's stream is passed on at once. When the client is gone so is the target's connection,
 * at once.
 */
#ifndef STEPBOX_PUMP_H
#define STEPBOX_PUMP_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct pump;

/* What becomes of bytes that the gate did not let through. */
enum pump_rest {
    PUMP_DROP, /* they are forgotten, and so is all that follows */
    PUMP_END,  /* the same, and the target is told that the client's stream has ended */
    PUMP_HOLD  /* they wait, and the client is not read, until the gate has changed */
};

/* Decides what may pass from the client to the target. `user` must outlive the pump. */
typedef struct pump_gate {
    /* How many of these bytes may pass; when not all, *rest says what becomes of the others. */
    size_t (*admit)(void *user, const char *bytes, size_t length, enum pump_rest *rest);
    /* Is shown what the target sends. Returns whether it changed what may pass. */
    bool (*answered)(void *user, const char *bytes, size_t length);
} pump_gate;

/* When a pump ends. */
enum pump_mode {
    /* When the target's stream has ended and is delivered: the client's connection is given back,
     * to be closed properly. For requests and answers. */
    PUMP_ANSWERED,
    /* When both streams have ended; each is passed on as TCP has it: one may end long before the
     * other, and where the target breaks off, so does the client's connection. */
    PUMP_BOTH_ENDED
};

/* The pump has ended and is freed. client_fd is the callee's; -1: it is closed. `silent`: the
 * target ended without having sent a byte. */
typedef void pump_done(int client_fd, bool silent, void *user);

typedef struct pump_config {
    struct ev_loop *loop;
    enum pump_mode mode;
    int client_fd, target_fd; /* connected, non-blocking; taken, also on failure */
    /* The target, when it only ends its stream, closes its sending half alone: one that closes all
     * has broken off (how a sandbox's relay tells over a unix socket). For PUMP_BOTH_ENDED. */
    bool target_half_closes;
    const char *to_target; /* what has been read from the client already; copied */
    size_t to_target_length;
    size_t ungated_length;   /* of to_target: passes without the gate */
    const char *to_client;   /* goes to the client first; copied */
    size_t to_client_length; /* 0: nothing */
    const pump_gate *gate;   /* NULL: everything passes */
    void *gate_user;
    void (*heard)(void *user); /* the client has sent bytes, which are passed next; or NULL */
    pump_done *done;           /* called later, once; not after pump_stop() */
    void *user;
} pump_config;

/* NULL when out of memory. */
struct pump *pump_start(const pump_config *config);

/* Breaks both connections. */
void pump_stop(struct pump *pump);

#endif
