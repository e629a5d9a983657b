/*
 * log.h - messages to stderr, one line each: "2026-01-31T12:00:00.000Z stepboxd[PID] info: text".
 *
 * Foreign bytes (ids, paths, names from a request) may be logged: control characters are shown as
 * "?", and a line is cut at 1 KiB. Secrets must not be.
 */
#ifndef STEPBOX_LOG_H
#define STEPBOX_LOG_H

typedef enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARN,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG
} log_level;

/* The name that begins each line (not copied), and the most talkative level shown. The default is
 * "stepbox", warn. */
void log_open(const char *program, log_level level);

/* Parses "error", "warn", "info" or "debug". 0, or -1 when it is none of them. */
int log_level_parse(const char *name, log_level *level);

/* Writes one line with a single write(2). Keeps errno. */
void log_at(log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_at(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
