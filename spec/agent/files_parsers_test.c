/* files_parsers_test.c - what /files reads of foreign bytes: ranges, encodings, signatures,
 * parameters of headers, multipart, gzip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "content_encoding.h"
#include "gunzip.h"
#include "header_parameters.h"
#include "http_range.h"
#include "multipart.h"
#include "signature.h"

#include "../support/guarded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A generator of our own, so that a failure can be repeated. */
static uint32_t seed = 1;

static unsigned rubbish(unsigned below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

/* --- ranges */

static void expect_range(const char *header, uint64_t size, http_range expected, uint64_t offset,
                         uint64_t length) {
    uint64_t got_offset = 0, got_length = 0;
    assert_int_equal(http_range_parse(header, size, &got_offset, &got_length), expected);
    if (expected == HTTP_RANGE_PART) {
        assert_int_equal(got_offset, offset);
        assert_int_equal(got_length, length);
    }
}

static void reads_ranges(void **state) {
    (void)state;
    expect_range(NULL, 10, HTTP_RANGE_WHOLE, 0, 0);
    expect_range("bytes=0-0", 10, HTTP_RANGE_PART, 0, 1);
    expect_range("bytes=2-5", 10, HTTP_RANGE_PART, 2, 4);
    expect_range("BYTES= 2 - 5 ", 10, HTTP_RANGE_PART, 2, 4);
    expect_range("bytes=2-", 10, HTTP_RANGE_PART, 2, 8);
    expect_range("bytes=-3", 10, HTTP_RANGE_PART, 7, 3);
    expect_range("bytes=-30", 10, HTTP_RANGE_PART, 0, 10);
    expect_range("bytes=9-99999999999999999999999999", 10, HTTP_RANGE_PART, 9, 1);
    expect_range("bytes=0-18446744073709551615", 10, HTTP_RANGE_PART, 0, 10);
    expect_range("bytes=10-", 10, HTTP_RANGE_BEYOND, 0, 0);
    expect_range("bytes=99999999999999999999999999-", 10, HTTP_RANGE_BEYOND, 0, 0);
    expect_range("bytes=-0", 10, HTTP_RANGE_BEYOND, 0, 0);
    const char *ignored[] = {"bytes=",    "bytes=-",   "bytes=5-2",   "bytes=1-2,4-5",
                             "lines=1-2", "bytes=a-b", "bytes=1",     "bytes=1-x",
                             "bytes=--1", "",          "bytes=0x1-2", "bytes=1- 2 3"};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        expect_range(ignored[i], 10, HTTP_RANGE_WHOLE, 0, 0);
}

static void takes_rubbish_for_ranges(void **state) {
    (void)state;
    static const char letters[] = "bytes=-0123456789, \t9";
    for (int round = 0; round < 200000; round++) {
        char text[40] = "bytes=";
        size_t length = rubbish(2) ? 6 : 0, end = length + rubbish(20);
        while (length < end)
            text[length++] =
                rubbish(10) ? letters[rubbish(sizeof letters - 1)] : (char)(1 + rubbish(255));
        text[length] = '\0';
        uint64_t offset, part, size = rubbish(100);
        if (http_range_parse(text, size, &offset, &part) == HTTP_RANGE_PART)
            assert_true(part > 0 && offset < size && part <= size - offset);
    }
}

/* --- encodings */

static void chooses_encodings(void **state) {
    (void)state;
    static const struct {
        const char *accept;
        content_encoding expected;
    } cases[] = {
        {NULL, CONTENT_IDENTITY},
        {"", CONTENT_IDENTITY},
        {"gzip", CONTENT_GZIP},
        {"GZip", CONTENT_GZIP},
        {"gzip, deflate, br, zstd", CONTENT_IDENTITY},
        {"gzip, deflate;q=0.9", CONTENT_GZIP},
        {"gzip;q=0.9, br", CONTENT_IDENTITY},
        {"gzip, *", CONTENT_IDENTITY},
        {"gzip, deflate, identity;q=0", CONTENT_GZIP},
        {"br, deflate", CONTENT_IDENTITY},
        {"identity, gzip", CONTENT_IDENTITY},
        {"gzip;q=0.5, identity", CONTENT_IDENTITY},
        {"gzip; q=0.5 , identity;q=0.4", CONTENT_GZIP},
        {"gzip;q=0", CONTENT_IDENTITY},
        {"gzip;q=0.000", CONTENT_IDENTITY},
        {"*", CONTENT_IDENTITY},
        {"*, identity;q=0", CONTENT_GZIP},
        {"gzip, *;q=0", CONTENT_GZIP},
        {"identity;q=0, gzip;q=0.1", CONTENT_GZIP},
        {"identity;q=0", CONTENT_UNKNOWN},
        {"identity;q=0, br", CONTENT_UNKNOWN},
        {"*;q=0", CONTENT_UNKNOWN},
        {"*;q=0, identity", CONTENT_IDENTITY},
        {";q=0,,;", CONTENT_IDENTITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (content_encoding_choose(cases[i].accept) != cases[i].expected)
            fail_msg("%s", cases[i].accept);
    }
    assert_false(content_encoding_accepts_identity("gzip, *;q=0"));
    assert_true(content_encoding_accepts_identity("gzip, *;q=0, identity;q=0.1"));
    assert_int_equal(content_encoding_parse(NULL), CONTENT_IDENTITY);
    assert_int_equal(content_encoding_parse(""), CONTENT_IDENTITY);
    assert_int_equal(content_encoding_parse(" Identity "), CONTENT_IDENTITY);
    assert_int_equal(content_encoding_parse("gzip"), CONTENT_GZIP);
    assert_int_equal(content_encoding_parse("br"), CONTENT_UNKNOWN);
    assert_int_equal(content_encoding_parse("*"), CONTENT_UNKNOWN);
    assert_int_equal(content_encoding_parse("gzip, gzip"), CONTENT_UNKNOWN);
}

static void takes_rubbish_for_encodings(void **state) {
    (void)state;
    static const char letters[] = "gzipidentityq=0.15,; \t*";
    for (int round = 0; round < 200000; round++) {
        char text[40];
        size_t length = 0, end = rubbish(39);
        while (length < end)
            text[length++] =
                rubbish(10) ? letters[rubbish(sizeof letters - 1)] : (char)(1 + rubbish(255));
        text[length] = '\0';
        content_encoding chosen = content_encoding_choose(text);
        content_encoding_parse(text);
        if (content_encoding_accepts_identity(text))
            assert_int_not_equal(chosen, CONTENT_UNKNOWN);
        else
            assert_int_not_equal(chosen, CONTENT_IDENTITY);
    }
}

/* --- signatures */

static void signs_like_the_official_sdk(void **state) {
    (void)state;
    char text[SIGNATURE_SIZE];
    signature_subject subject = {"/home/user/a b.txt", "read", "", false, 0};
    /* printf '%s' '/home/user/a b.txt:read::token' | openssl dgst -sha256 -binary | base64 */
    signature_make(&subject, "token", text);
    assert_string_equal(text, "v1_VV5cnKMLm+JJ6UtC8V1agQ4x7dIUMCEZwYlYmh0UPy8");
    subject = (signature_subject){"f", "write", "user", true, 1700000000};
    signature_make(&subject, "token", text);
    assert_string_equal(text, "v1_t9ZgkQfW4oepyP7PdaqtG0TJiKdg6N9l273stRoP1fI");
    assert_true(signature_matches(text, &subject, "token"));
    assert_false(signature_matches(text, &subject, "tokem"));
    assert_false(signature_matches("", &subject, "token"));
    text[strlen(text) - 1] ^= 1;
    assert_false(signature_matches(text, &subject, "token"));
}

static void reads_expirations(void **state) {
    (void)state;
    int64_t value;
    assert_true(signature_read_expiration("0", &value) && value == 0);
    assert_true(signature_read_expiration("1700000000", &value) && value == 1700000000);
    assert_true(signature_read_expiration("-5", &value) && value == -5);
    const char *bad[] = {"", "-", "+5", " 5", "5 ", "5.0", "0x5", "99999999999999999999", "soon"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(signature_read_expiration(bad[i], &value));
}

/* --- parameters */

static void expect_parameter(const char *header, const char *name, const char *expected) {
    char to[100];
    size_t length;
    if (header_parameter(header, strlen(header), name, to, sizeof to, &length) !=
        HEADER_PARAMETER_FOUND)
        fail_msg("%s", header);
    assert_string_equal(to, expected);
    assert_int_equal(length, strlen(expected));
}

static header_parameter_result result_of(const char *header, const char *name) {
    char to[20];
    size_t length;
    return header_parameter(header, strlen(header), name, to, sizeof to, &length);
}

static void reads_parameters(void **state) {
    (void)state;
    expect_parameter("form-data; name=\"file\"; filename=\"a b;c.txt\"", "filename", "a b;c.txt");
    expect_parameter("form-data; name=\"file\"; filename=\"a b;c.txt\"", "name", "file");
    expect_parameter("x;NAME=token;", "name", "token");
    expect_parameter("x ; name = \"\" ", "name", "");
    expect_parameter("x; name=\"a\\\"b\\\\c\\d\"", "name", "a\"b\\c\\d");
    /* Browsers escape like this; E2B's server takes it as it is. */
    expect_parameter("x; filename=\"a%22%0Ab\"", "filename", "a%22%0Ab");
    expect_parameter("x; filename=\"\xf0\x9f\x8e\x89\"", "filename", "\xf0\x9f\x8e\x89");
    expect_parameter("x; filename=plain; filename*=UTF-8''%e2%82%AC%20rates", "filename",
                     "\xe2\x82\xac rates");
    expect_parameter("x; filename*=utf-8'en'a; filename=plain", "filename", "a");
    assert_int_equal(result_of("form-data", "name"), HEADER_PARAMETER_ABSENT);
    assert_int_equal(result_of("", "name"), HEADER_PARAMETER_ABSENT);
    assert_int_equal(result_of("x; names=1; nam=2", "name"), HEADER_PARAMETER_ABSENT);
    const char *bad[] = {"x; name",
                         "x; name=",
                         "x; name=\"a",
                         "x; name=\"a\\\"",
                         "x; name=a b",
                         "x; =a",
                         "x; name*=a",
                         "x; name*=utf-8''%4",
                         "x; name*=latin1''a",
                         "x; name=\"twenty characters or more\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (result_of(bad[i], "name") != HEADER_PARAMETER_BAD)
            fail_msg("%s", bad[i]);
    }
}

static void takes_rubbish_for_parameters(void **state) {
    (void)state;
    static const char letters[] = "name*=;\"\\ utf-8''%41;name=";
    for (int round = 0; round < 200000; round++) {
        size_t length = rubbish(60);
        char *text = guarded_end() - length;
        for (size_t i = 0; i < length; i++)
            text[i] = rubbish(10) ? letters[rubbish(sizeof letters - 1)] : (char)(1 + rubbish(255));
        char to[10];
        size_t got;
        if (header_parameter(text, length, "name", to, sizeof to, &got) == HEADER_PARAMETER_FOUND)
            assert_true(got < sizeof to && to[got] == '\0');
    }
}

/* --- multipart */

struct seen {
    char text[2000]; /* "name|filename|data\n" for each part */
    size_t length;
};

static void note(struct seen *seen, const char *bytes, size_t length) {
    assert_true(seen->length + length < sizeof seen->text);
    memcpy(seen->text + seen->length, bytes, length);
    seen->length += length;
    seen->text[seen->length] = '\0';
}

static int see_begin(void *user, const char *name, const char *filename, size_t length) {
    note(user, name ? name : "-", name ? strlen(name) : 1);
    note(user, "|", 1);
    note(user, filename ? filename : "-", filename ? length : 1);
    note(user, "|", 1);
    return name && strcmp(name, "stop") == 0 ? -1 : 0;
}

static int see_data(void *user, const char *bytes, size_t length) {
    assert_true(length > 0);
    note(user, bytes, length);
    return 0;
}

static int see_end(void *user) {
    note(user, "\n", 1);
    return 0;
}

static const multipart_events see = {see_begin, see_data, see_end};

/* Feeds a body in pieces of that size (0: of random sizes), each at an unreadable page's edge. */
static int parse(const char *body, size_t length, size_t step, struct seen *seen) {
    const char *fault;
    seen->length = 0;
    seen->text[0] = '\0';
    multipart *parser =
        multipart_new("multipart/form-data; boundary=\"a-b\"; charset=x", &see, seen, &fault);
    assert_non_null(parser);
    int failed = 0;
    for (size_t at = 0, size; at < length && !failed; at += size) {
        size = step ? step : 1 + rubbish(9);
        if (size > length - at)
            size = length - at;
        failed = multipart_feed(parser, guarded(body + at, size), size);
    }
    if (!failed)
        failed = multipart_end(parser);
    multipart_free(parser);
    return failed;
}

static void expect_parts(const char *body, size_t length, const char *expected,
                         size_t expected_length) {
    struct seen seen;
    for (size_t step = 0; step < 40; step++) {
        assert_int_equal(parse(body, length, step, &seen), 0);
        assert_int_equal(seen.length, expected_length);
        assert_memory_equal(seen.text, expected, expected_length);
    }
}

#define PARTS(body, expected) expect_parts(body, sizeof body - 1, expected, sizeof expected - 1)
#define HEAD "Content-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n"

static void takes_multipart_apart(void **state) {
    (void)state;
    PARTS("--a-b\r\n" HEAD "hello\r\n--a-b--\r\n", "file|f|hello\n");
    PARTS("preamble\r\n--a-b \t\r\ncontent-DISPOSITION:form-data; name=n\r\nX: y\r\n\r\n1\r\n--a-b"
          "\r\n\r\n2\r\n--a-b--epilogue\r\n--a-b\r\n",
          "n|-|1\n-|-|2\n");
    /* Empty parts, with and without a line's end of their own. */
    PARTS("--a-b\r\n" HEAD "\r\n--a-b\r\n" HEAD "--a-b--", "file|f|\nfile|f|\n");
    /* Much that begins like a delimiter. */
    PARTS("--a-b\r\n" HEAD "\r\n--a-\r\n--a-c\r\r\n\r\n-\n--a-b\r\n--a-b--",
          "file|f|\r\n--a-\r\n--a-c\r\r\n\r\n-\n--a-b\n");
    PARTS("--a-b\r\n" HEAD "--a-\0\xff--a-b\r\n--a-b--", "file|f|--a-\0\xff--a-b\n");
    /* Lines that end without \r. */
    PARTS("--a-b\nContent-Disposition: x; name=n\n\nd\r\n--a-b--", "n|-|d\n");
    PARTS("--a-b--", "");
}

static void refuses_malformed_multipart(void **state) {
    (void)state;
    struct seen seen;
    const char *bad[] = {"",
                         "nothing",
                         "--a-b",
                         "--a-b\r\n",
                         "--a-b\r\n" HEAD "hello",
                         "--a-b\r\n" HEAD "hello\r\n--a-b",
                         "--a-b\r\n" HEAD "hello\r\n--a-b-\r\n",
                         "--a-bc\r\n" HEAD "hello\r\n--a-b--",
                         "--a-b\r\nContent-Disposition: form-data; name=\"x\r\n\r\n\r\n--a-b--",
                         "--a-b\r\nContent-Disposition: form-data; name=stop\r\n\r\n\r\n--a-b--"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i], strlen(bad[i]), 3, &seen) == 0)
            fail_msg("%s", bad[i]);
    }
    assert_int_equal(parse("--a-b\r\nX: \0\r\n\r\n\r\n--a-b--", 24, 3, &seen), -1);
    const char *types[] = {"text/plain; boundary=a", "multipart/form-data",
                           "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
                           "multipart/form-data; boundary=\"a\r\nb\""};
    const char *fault;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_null(multipart_new(types[i], &see, &seen, &fault));
        assert_non_null(fault);
    }
    char type[300];
    snprintf(type, sizeof type, "multipart/form-data; boundary=%0250d", 1);
    assert_null(multipart_new(type, &see, &seen, &fault));
}

static void bounds_the_headers_of_a_part(void **state) {
    (void)state;
    const char *fault;
    struct seen seen = {.length = 0};
    multipart *parser = multipart_new("multipart/form-data; boundary=a", &see, &seen, &fault);
    assert_int_equal(multipart_feed(parser, "--a\r\nX: ", 8), 0);
    int fed = 0;
    while (fed < 100 && multipart_feed(parser, "0123456789012345678901234567890123456789", 40) == 0)
        fed++;
    while (fed < 10000 && multipart_feed(parser, "0123456789\r\n", 12) == 0)
        fed++;
    assert_true(fed < 10000);
    assert_non_null(strstr(multipart_fault(parser), "too long"));
    multipart_free(parser);
}

static void takes_rubbish_for_multipart(void **state) {
    (void)state;
    static const char *const words[] = {
        "--a-b", "\r\n", "--", "Content-Disposition: ", "name=", "\"file\"", ";",
        "x",     "\n",   "\r", "filename*=UTF-8''%",    "\\"};
    for (int round = 0; round < 20000; round++) {
        char body[600];
        size_t length = 0;
        struct seen seen, again;
        for (unsigned i = 0, count = rubbish(25); i < count; i++) {
            const char *word = words[rubbish(sizeof words / sizeof *words)];
            if (rubbish(15) == 0) {
                body[length++] = (char)rubbish(256);
            } else {
                memcpy(body + length, word, strlen(word));
                length += strlen(word);
            }
        }
        /* However it is cut, it means the same. */
        int first = parse(body, length, length ? length : 1, &seen);
        int second = parse(body, length, 0, &again);
        assert_int_equal(first, second);
        if (first == 0) {
            assert_int_equal(seen.length, again.length);
            assert_memory_equal(seen.text, again.text, seen.length);
        }
    }
}

/* --- gzip */

struct unpacked {
    size_t length;
    unsigned sum;
    bool stop;
};

static int see_unpacked(void *user, const char *bytes, size_t length) {
    struct unpacked *unpacked = user;
    for (size_t i = 0; i < length; i++)
        unpacked->sum = unpacked->sum * 31 + (unsigned char)bytes[i];
    unpacked->length += length;
    return unpacked->stop ? -1 : 0;
}

static size_t pack(const char *bytes, size_t length, char *to, size_t size) {
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = (unsigned)length;
    stream.next_out = (unsigned char *)to;
    stream.avail_out = (unsigned)size;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return size - stream.avail_out;
}

/* Decodes in pieces; returns 0, or -1 when it is not whole gzip. */
static int unpack(const char *bytes, size_t length, size_t step, struct unpacked *unpacked) {
    bool bad;
    gunzip *decoder = gunzip_new(see_unpacked, unpacked);
    int result = 0;
    for (size_t at = 0; at < length && result == 0;) {
        size_t size = step ? step : 1 + rubbish(50);
        if (size > length - at)
            size = length - at;
        long taken = gunzip_feed(decoder, bytes + at, size, &bad);
        if (taken < 0)
            result = -1;
        else
            assert_true(taken > 0 && (size_t)taken <= size);
        at += (size_t)taken;
    }
    if (result == 0 && !gunzip_is_complete(decoder))
        result = -1;
    gunzip_free(decoder);
    return result;
}

static void unpacks_gzip(void **state) {
    (void)state;
    static char zeros[10000000], packed[100000];
    struct unpacked whole = {0}, unpacked;
    see_unpacked(&whole, zeros, sizeof zeros);
    size_t length = pack(zeros, sizeof zeros, packed, sizeof packed);
    for (size_t step = 1; step < length * 2; step = step * 3 + 1) {
        unpacked = (struct unpacked){0};
        assert_int_equal(unpack(packed, length, step, &unpacked), 0);
        assert_int_equal(unpacked.length, sizeof zeros);
        assert_int_equal(unpacked.sum, whole.sum);
    }
    /* Few bytes that are many do not come all at once. */
    bool bad;
    unpacked = (struct unpacked){0};
    gunzip *decoder = gunzip_new(see_unpacked, &unpacked);
    assert_in_range(gunzip_feed(decoder, packed, length, &bad), 1, length - 1);
    assert_true(unpacked.length < 1000000);
    gunzip_free(decoder);
    /* Two members are one after the other. */
    length = pack("hello ", 6, packed, sizeof packed);
    length += pack("world", 5, packed + length, sizeof packed - length);
    unpacked = (struct unpacked){0};
    assert_int_equal(unpack(packed, length, 1, &unpacked), 0);
    assert_int_equal(unpacked.length, 11);
    unpacked = (struct unpacked){.stop = true};
    assert_int_equal(unpack(packed, length, 1, &unpacked), -1);
    length = pack("", 0, packed, sizeof packed);
    unpacked = (struct unpacked){0};
    assert_int_equal(unpack(packed, length, 0, &unpacked), 0);
    assert_int_equal(unpacked.length, 0);
}

static void refuses_gzip_that_is_cut_or_changed(void **state) {
    (void)state;
    char bytes[3000], packed[4000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)rubbish(40);
    size_t length = pack(bytes, sizeof bytes, packed, sizeof packed);
    struct unpacked unpacked = {0};
    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(unpack(packed, cut, 0, &unpacked), -1);
    for (int round = 0; round < 3000; round++) {
        size_t at = 10 + rubbish((unsigned)length - 10); /* behind the head, which has free bits */
        char saved = packed[at];
        packed[at] = (char)(packed[at] ^ (1 << rubbish(8)));
        assert_int_equal(unpack(packed, length, 0, &unpacked), -1);
        packed[at] = saved;
    }
    memcpy(packed + length, "trailing", 8);
    assert_int_equal(unpack(packed, length + 8, 0, &unpacked), -1);
    for (int round = 0; round < 3000; round++) {
        for (size_t i = 0; i < 200; i++)
            packed[i] = (char)rubbish(256);
        memcpy(packed, "\x1f\x8b\x08", rubbish(2) * 3);
        unpack(packed, 200, 0, &unpacked);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_ranges),
        cmocka_unit_test(takes_rubbish_for_ranges),
        cmocka_unit_test(chooses_encodings),
        cmocka_unit_test(takes_rubbish_for_encodings),
        cmocka_unit_test(signs_like_the_official_sdk),
        cmocka_unit_test(reads_expirations),
        cmocka_unit_test(reads_parameters),
        cmocka_unit_test(takes_rubbish_for_parameters),
        cmocka_unit_test(takes_multipart_apart),
        cmocka_unit_test(refuses_malformed_multipart),
        cmocka_unit_test(bounds_the_headers_of_a_part),
        cmocka_unit_test(takes_rubbish_for_multipart),
        cmocka_unit_test(unpacks_gzip),
        cmocka_unit_test(refuses_gzip_that_is_cut_or_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
