/* gunzip_test.c - gzip, however it is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gunzip.h"

#include "../support/rubbish.h"

#include <string.h>
#include <zlib.h>

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
        cmocka_unit_test(unpacks_gzip),
        cmocka_unit_test(refuses_gzip_that_is_cut_or_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
