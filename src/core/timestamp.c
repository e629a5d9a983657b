#include "timestamp.h"

#include <time.h>

int64_t sbi_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t sbi_deadline(double seconds) {
    /* A century is never; this also keeps the sum within an int64. */
    return seconds < 3.2e9 ? sbi_now() + (int64_t)(seconds * 1e9) : SBI_NEVER;
}

double sbi_wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct reader {
    const char *at, *end;
};

static bool read_digits(struct reader *reader, int count, int low, int high, int *value) {
    *value = 0;
    for (int i = 0; i < count; i++, reader->at++) {
        if (reader->at == reader->end || *reader->at < '0' || *reader->at > '9') {
            return false;
        }
        *value = *value * 10 + (*reader->at - '0');
    }
    return *value >= low && *value <= high;
}

static bool read_one_of(struct reader *reader, char a, char b) {
    if (reader->at == reader->end || (*reader->at != a && *reader->at != b)) {
        return false;
    }
    reader->at++;
    return true;
}

static int read_nanoseconds(struct reader *reader) {
    int nanoseconds = 0, scale = 100000000;
    for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        nanoseconds += scale * (*reader->at - '0');
        scale /= 10;
    }
    return nanoseconds;
}

/* Days from 1970-01-01 in the proleptic Gregorian calendar; the year is counted from March so that
 * the leap day is its last. */
static int64_t days_of(int year, int month, int day) {
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

static bool read_offset(struct reader *reader, int *minutes) {
    *minutes = 0;
    if (read_one_of(reader, 'Z', 'z')) {
        return true;
    }
    bool negative = reader->at < reader->end && *reader->at == '-';
    int hour, minute;
    if (!read_one_of(reader, '+', '-') || !read_digits(reader, 2, 0, 23, &hour) ||
        !read_one_of(reader, ':', ':') || !read_digits(reader, 2, 0, 59, &minute)) {
        return false;
    }
    *minutes = (negative ? -1 : 1) * (hour * 60 + minute);
    return true;
}

bool sbi_timestamp_parse_exact(const char *text, size_t length, int64_t *seconds,
                               int *nanoseconds) {
    struct reader reader = {text, text + length};
    int year, month, day, hour, minute, second, offset;
    if (!read_digits(&reader, 4, 1, 9999, &year) || !read_one_of(&reader, '-', '-') ||
        !read_digits(&reader, 2, 1, 12, &month) || !read_one_of(&reader, '-', '-') ||
        !read_digits(&reader, 2, 1, 31, &day)) {
        return false;
    }
    if (reader.at == reader.end || (*reader.at != 'T' && *reader.at != 't' && *reader.at != ' ')) {
        return false;
    }
    reader.at++;
    if (!read_digits(&reader, 2, 0, 23, &hour) || !read_one_of(&reader, ':', ':') ||
        !read_digits(&reader, 2, 0, 59, &minute) || !read_one_of(&reader, ':', ':') ||
        !read_digits(&reader, 2, 0, 60, &second)) {
        return false;
    }
    *nanoseconds = 0;
    if (reader.at < reader.end && *reader.at == '.') {
        reader.at++;
        *nanoseconds = read_nanoseconds(&reader);
    }
    if (!read_offset(&reader, &offset) || reader.at != reader.end) {
        return false;
    }
    int64_t whole = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *seconds = whole - (int64_t)offset * 60;
    return true;
}

bool sbi_timestamp_parse(const char *text, size_t length, double *seconds) {
    int64_t whole;
    int nanoseconds;
    if (!sbi_timestamp_parse_exact(text, length, &whole, &nanoseconds)) {
        return false;
    }
    *seconds = (double)whole + nanoseconds / 1e9;
    return true;
}
