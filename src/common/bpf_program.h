/*
 * bpf_program.h - writes programs for seccomp(2), one instruction after the other.
 *
 * libseccomp would do that too, but with conditions on several arguments of a call it may take one
 * argument for another (2.5.4: of socket(), the protocol for the family), and lets through what no
 * rule allows. Here, every condition loads what it looks at.
 */
#ifndef STEPBOX_BPF_PROGRAM_H
#define STEPBOX_BPF_PROGRAM_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_program {
    struct sock_filter code[BPF_MAXINSNS];
    size_t count;
    bool full; /* something did not fit: it cannot be used */
};

/* Ends here with SECCOMP_RET_... */
void bpf_return(struct bpf_program *program, uint32_t action);
/* Goes on with the call's number, or with its architecture, or with the lower 32 bits of one of its
 * arguments, in the bits of the mask. BPF_UPPER_HALF + index is for the upper 32. */
#define BPF_UPPER_HALF 8u
void bpf_load_number(struct bpf_program *program);
void bpf_load_architecture(struct bpf_program *program);
void bpf_load_argument(struct bpf_program *program, unsigned index, uint32_t mask);
/* Ends here with the action if what was loaded last is the value, or is not, or is not less. */
void bpf_return_if_equal(struct bpf_program *program, uint32_t value, uint32_t action);
void bpf_return_unless_equal(struct bpf_program *program, uint32_t value, uint32_t action);
void bpf_return_if_from(struct bpf_program *program, uint32_t value, uint32_t action);

/* A jump forward: place = bpf_skip_...(); what is skipped; bpf_land(place). Skips if what was
 * loaded last is not the value, or is not less than it. */
size_t bpf_skip_unless_equal(struct bpf_program *program, uint32_t value);
size_t bpf_skip_if_from(struct bpf_program *program, uint32_t value);
void bpf_land(struct bpf_program *program, size_t place);

#endif
