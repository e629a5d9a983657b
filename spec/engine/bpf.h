/*
 * bpf.h - runs a program for seccomp(2) as the kernel would, on a call that is not made: so calls
 * of other architectures can be tried, and all arguments.
 */
#ifndef STEPBOX_SPEC_BPF_H
#define STEPBOX_SPEC_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct bpf {
    struct sock_filter instructions[BPF_MAXINSNS];
    size_t count;
};

static inline void bpf_read(struct bpf *bpf, int fd) {
    ssize_t size = pread(fd, bpf->instructions, sizeof bpf->instructions, 0);
    assert_true(size > 0 && size % (ssize_t)sizeof(struct sock_filter) == 0);
    bpf->count = (size_t)size / sizeof(struct sock_filter);
}

/* Whether a conditional jump is taken. */
static inline int bpf_holds(uint16_t code, uint32_t a, uint32_t k) {
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return a == k;
    case BPF_JGT:
        return a > k;
    case BPF_JGE:
        return a >= k;
    default:
        assert_int_equal(BPF_OP(code), BPF_JSET);
        return (a & k) != 0;
    }
}

/* What the program says of a call: SECCOMP_RET_... */
static inline uint32_t bpf_run(const struct bpf *bpf, const struct seccomp_data *call) {
    uint32_t a = 0;
    for (size_t at = 0;; at++) {
        assert_true(at < bpf->count);
        const struct sock_filter *step = &bpf->instructions[at];
        switch (BPF_CLASS(step->code)) {
        case BPF_LD:
            assert_int_equal(step->code, BPF_LD | BPF_W | BPF_ABS);
            assert_true(step->k <= sizeof *call - sizeof a);
            memcpy(&a, (const char *)call + step->k, sizeof a);
            break;
        case BPF_ALU:
            assert_int_equal(step->code, BPF_ALU | BPF_AND | BPF_K);
            a &= step->k;
            break;
        case BPF_JMP:
            if (step->code == (BPF_JMP | BPF_JA))
                at += step->k;
            else
                at += bpf_holds(step->code, a, step->k) ? step->jt : step->jf;
            break;
        default:
            assert_int_equal(step->code, BPF_RET | BPF_K);
            return step->k;
        }
    }
}

#endif
