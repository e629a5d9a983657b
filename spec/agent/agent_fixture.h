/*
 * agent_fixture.h - for tests: both services of the agent in the loop's thread, with a small runner
 * in plain Python whose steps are Python code.
 */
#ifndef STEPBOX_SPEC_AGENT_FIXTURE_H
#define STEPBOX_SPEC_AGENT_FIXTURE_H

#include "../common/http_fixture.h"

#include "agent.h"
#include "code_interpreter.h"
#include "envd.h"
#include "filesystem_service.h"
#include "process_table.h"

#include <signal.h>
#include <sys/stat.h>

/* Steps see send(object), raw(bytes) and leave(); everything else is Python's. */
static const char runner_source[] =
    "import json, os, signal, socket, sys, time\n"
    "sock = socket.socket(fileno=int(sys.argv[1]))\n"
    "os.set_inheritable(sock.fileno(), False)\n"
    "lines = sock.makefile('r')\n"
    "armed = False\n"
    "def on_int(*_):\n"
    "    if armed: raise KeyboardInterrupt\n"
    "signal.signal(signal.SIGINT, on_int)\n"
    "def raw(data): sock.sendall(data)\n"
    "def send(message): raw((json.dumps(message) + '\\n').encode())\n"
    "class Leave(Exception): pass\n"
    "def leave(): raise Leave\n"
    "def out(text): os.write(1, text.encode())\n"
    "def err(text): os.write(2, text.encode())\n"
    "def drain():\n"
    "    send({'type': 'drain'})\n"
    "    assert json.loads(lines.readline())['type'] == 'drained'\n"
    "names, count = globals(), 0\n"
    "if os.path.exists(os.path.dirname(__file__) + '/broken'):\n"
    "    sys.exit('cannot start: broken \\xff')\n"
    "send({'type': 'ready'})\n"
    "for line in lines:\n"
    "    run = json.loads(line)\n"
    "    count += 1\n"
    "    end = {'type': 'end'}\n"
    "    saved = dict(os.environ)\n"
    "    os.environ.update(run['env'])\n"
    "    send({'type': 'number_of_executions', 'execution_count': count})\n"
    "    try:\n"
    "        armed = True\n"
    "        exec(run['code'], names)\n"
    "    except Leave:\n"
    "        end['exit'] = True\n"
    "    except BaseException as e:\n"
    "        send({'type': 'error', 'name': type(e).__name__, 'value': str(e), 'traceback': ''})\n"
    "    armed = False\n"
    "    for name in run['env']: os.environ.pop(name)\n"
    "    os.environ.update(saved)\n"
    "    send(end)\n"
    "    if 'exit' in end: break\n";

static struct agent agent;
static code_interpreter *interpreter;
static http_server *envd_server, *code_server;
static uint64_t agent_output; /* its bound of output, for a test to set before; 0: none */
static char directory[64];    /* of this run; the runners are below it */
static const agent_peer from_client = AGENT_PEER_CLIENT, from_engine = AGENT_PEER_ENGINE;

static inline void write_file(const char *name, const char *text) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline void in_directory(char *path, size_t size, const char *name) {
    snprintf(path, size, "%s/%s", directory, name);
}

static inline int agent_set_up(void **state) {
    (void)state;
    char path[200];
    signal(SIGPIPE, SIG_IGN);
    strcpy(directory, "/tmp/stepbox-agent-test.XXXXXX");
    assert_non_null(mkdtemp(directory));
    in_directory(path, sizeof path, "python");
    mkdir(path, 0755);
    write_file("python/main.py", runner_source);
    agent = (struct agent){.loop = ev_default_loop(EVFLAG_AUTO),
                           .runners = directory,
                           .home = directory,
                           .interrupt_grace = 0.5,
                           .output = agent_output,
                           .envs = json_object()};
    agent.processes = process_table_new(&agent);
    assert_non_null(agent.processes);
    interpreter = code_interpreter_new(&agent);
    envd_server = http_server_new(agent.loop, envd_handle, &agent, AGENT_BODY_MAX);
    code_server = http_server_new(agent.loop, code_interpreter_handle, interpreter, AGENT_BODY_MAX);
    assert_non_null(interpreter);
    assert_non_null(envd_server);
    assert_non_null(code_server);
    http_server_on_head(envd_server, envd_head);
    http_server_on_head(code_server, code_interpreter_head);
    return fixture_start(agent.loop);
}

static inline int agent_tear_down(void **state) {
    (void)state;
    char command[200];
    fixture_stop();
    code_interpreter_free(interpreter);
    process_table_free(agent.processes);
    filesystem_free_watchers(&agent);
    http_server_free(envd_server);
    http_server_free(code_server);
    json_decref(agent.envs);
    free(agent.access_token);
    free(agent.workdir);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static inline struct client *connect_code(void) {
    return connect_to(code_server, (void *)&from_client);
}

static inline struct client *connect_envd(const agent_peer *peer) {
    return connect_to(envd_server, (void *)peer);
}

/* Sends a request with a body; headers are whole lines or "". */
static inline void request(struct client *client, const char *method, const char *path,
                           const char *headers, const char *body, size_t length) {
    char head[1000];
    snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: h\r\n%sContent-Length: %zu\r\n\r\n",
             method, path, headers, length);
    send_text(client, head);
    send_bytes(client, body, length);
}

static inline void request_json(struct client *client, const char *method, const char *path,
                                const char *body) {
    request(client, method, path, "Content-Type: application/json\r\n", body, strlen(body));
}

/* Sends the code as a step of a context (NULL: the default one). */
static inline void run_in(struct client *client, const char *id, const char *code) {
    json_t *body = json_pack("{s:s, s:s*}", "code", code, "context_id", id);
    char *text = json_dumps(body, 0);
    request_json(client, "POST", "/execute", text);
    free(text);
    json_decref(body);
}

static inline void run_code(struct client *client, const char *code) {
    run_in(client, NULL, code);
}

/* Takes the answer to a step. Returns the events without timestamps, pieces of one stream joined,
 * each as "type" or "type:text" with a line each; keepalives are left out. */
static inline char *read_events(struct client *client) {
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 200);
    assert_false(answer.cut);
    assert_null(strcasestr(answer.head, "\r\nContent-Type:"));
    char *text = calloc(1, answer.length * 2 + 1), *at = text, *next;
    char last[40] = "";
    for (char *line = answer.body; line && *line; line = next) {
        next = strchr(line, '\n');
        assert_non_null(next);
        json_t *event = json_loadb(line, (size_t)(next - line), JSON_ALLOW_NUL, NULL);
        assert_non_null(event);
        const char *type = json_string_value(json_object_get(event, "type"));
        const char *value =
            json_string_value(json_object_get(event, strcmp(type, "error") == 0 ? "name" : "text"));
        next++;
        if (strcmp(type, "keepalive") != 0) {
            bool same = strncmp(type, "std", 3) == 0 && strcmp(type, last) == 0;
            if (!same)
                at += sprintf(at, "%s%s", at == text ? "" : "\n", type);
            if (strcmp(type, "number_of_executions") == 0)
                at += sprintf(
                    at, ":%d%s", (int)json_integer_value(json_object_get(event, "execution_count")),
                    json_is_true(json_object_get(event, "restarted")) ? ":restarted" : "");
            if (value)
                at += sprintf(at, "%s%s", same ? "" : ":", value);
            snprintf(last, sizeof last, "%s", type);
        }
        json_decref(event);
    }
    free(answer.body);
    return text;
}

static inline void expect_events(struct client *client, const char *expected) {
    char *events = read_events(client);
    assert_string_equal(events, expected);
    free(events);
}

/* Waits until the file exists: code says so how far it is. */
static inline void wait_for_file(const char *name) {
    char path[200];
    in_directory(path, sizeof path, name);
    for (int i = 0; i < 5000 && access(path, F_OK) != 0; i++)
        usleep(1000);
    assert_int_equal(access(path, F_OK), 0);
}

#endif
