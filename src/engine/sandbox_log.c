#include "sandbox_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rfc3339.h"

const sandbox_log_entry *sandbox_log_at(const struct sandbox_log *log, size_t index) {
    return &log->entries[(log->first + index) % SANDBOX_LOG_ENTRIES];
}

/* How many bytes the UTF-8 character has that begins here, or 0 when it is none. */
static size_t character_length(const unsigned char *text, size_t length) {
    size_t wanted = text[0] < 0x80   ? 1
                    : text[0] < 0xC2 ? 0
                    : text[0] < 0xE0 ? 2
                    : text[0] < 0xF0 ? 3
                    : text[0] < 0xF5 ? 4
                                     : 0;
    if (wanted > length)
        return 0;
    for (size_t i = 1; i < wanted; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    if (wanted == 3 && ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] > 0x9F)))
        return 0;
    if (wanted == 4 && ((text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] > 0x8F)))
        return 0;
    return wanted;
}

/* A copy in which every byte that is no text is "?": JSON takes UTF-8 only, terminals no controls.
 */
static char *printable(const char *text, size_t length) {
    char *copy = malloc(length + 1);
    size_t at = 0;
    while (copy && at < length) {
        size_t width = character_length((const unsigned char *)text + at, length - at);
        unsigned char c = (unsigned char)text[at];
        if (width == 0 || (width == 1 && (c < 0x20 || c == 0x7F) && c != '\t')) {
            copy[at++] = '?';
            continue;
        }
        memcpy(copy + at, text + at, width);
        at += width;
    }
    if (copy)
        copy[length] = '\0';
    return copy;
}

static void append(struct sandbox_log *log, log_level level, const char *source, const char *text,
                   size_t length) {
    if (!log->entries)
        log->entries = calloc(SANDBOX_LOG_ENTRIES, sizeof *log->entries);
    char *message = log->entries ? printable(text, length) : NULL;
    if (!message)
        return;
    if (log->count == SANDBOX_LOG_ENTRIES) {
        free(log->entries[log->first].message);
        log->first = (log->first + 1) % SANDBOX_LOG_ENTRIES;
        log->count--;
    }
    int64_t at = rfc3339_now();
    /* Pages are cut by time: a clock that is set back must not mix them. */
    if (log->count > 0 && sandbox_log_at(log, log->count - 1)->at > at)
        at = sandbox_log_at(log, log->count - 1)->at;
    log->entries[(log->first + log->count++) % SANDBOX_LOG_ENTRIES] =
        (sandbox_log_entry){at, level, source, message};
}

void sandbox_log_add(struct sandbox_log *log, log_level level, const char *format, ...) {
    char text[SANDBOX_LOG_MESSAGE];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (length > 0)
        append(log, level, "engine", text, strlen(text));
}

/* The agent's lines are log.h's, "TIME stepbox-agent[PID] LEVEL: text": gives where the text
 * begins, and the level. Whatever else is written there is text as a whole, and a warning. */
static size_t read_head(const char *line, size_t length, log_level *level) {
    static const char program[] = " stepbox-agent[";
    *level = LOG_LEVEL_WARN;
    const char *name = memmem(line, length < 40 ? length : 40, program, sizeof program - 1);
    const char *end = line + length;
    const char *word = name ? memchr(name, ']', (size_t)(end - name)) : NULL;
    if (!word || end - word < 2 || word[1] != ' ')
        return 0;
    word += 2;
    const char *colon = memchr(word, ':', (size_t)(end - word));
    char text[8] = "";
    if (!colon || colon - word >= (ptrdiff_t)sizeof text)
        return 0;
    memcpy(text, word, (size_t)(colon - word));
    if (log_level_parse(text, level) < 0)
        return 0;
    return (size_t)(colon - line) + (end - colon > 1 && colon[1] == ' ' ? 2 : 1);
}

static void end_line(struct sandbox_log *log) {
    log_level level;
    size_t skip = read_head(log->line, log->line_used, &level);
    if (log->line_used > skip)
        append(log, level, "agent", log->line + skip, log->line_used - skip);
    log->line_used = 0;
    log->line_is_cut = 0;
}

void sandbox_log_said(struct sandbox_log *log, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '\n')
            end_line(log);
        else if (log->line_used < sizeof log->line && !log->line_is_cut)
            log->line[log->line_used++] = bytes[i];
        else
            log->line_is_cut = 1;
    }
}

void sandbox_log_free(struct sandbox_log *log) {
    for (size_t i = 0; i < log->count; i++)
        free(sandbox_log_at(log, i)->message);
    free(log->entries);
    *log = (struct sandbox_log){0};
}
