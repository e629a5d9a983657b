#include "bpf_program.h"

#include <linux/seccomp.h>

static void emit(struct bpf_program *program, struct sock_filter instruction) {
    if (program->count < BPF_MAXINSNS)
        program->code[program->count++] = instruction;
    else
        program->full = true;
}

static void emit_load(struct bpf_program *program, size_t offset) {
    emit(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* then, otherwise: how many instructions to skip. */
static void emit_compare(struct bpf_program *program, uint16_t how, uint32_t value, uint8_t then,
                         uint8_t otherwise) {
    emit(program, (struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, value, then, otherwise));
}

void bpf_return(struct bpf_program *program, uint32_t action) {
    emit(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

void bpf_load_number(struct bpf_program *program) {
    emit_load(program, offsetof(struct seccomp_data, nr));
}

void bpf_load_architecture(struct bpf_program *program) {
    emit_load(program, offsetof(struct seccomp_data, arch));
}

void bpf_load_argument(struct bpf_program *program, unsigned index, uint32_t mask) {
    /* Both architectures have the lower half first. */
    emit_load(program, offsetof(struct seccomp_data, args) +
                           index % BPF_UPPER_HALF * sizeof(uint64_t) +
                           index / BPF_UPPER_HALF * sizeof(uint32_t));
    if (mask != 0xffffffff)
        emit(program, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
}

void bpf_return_if_equal(struct bpf_program *program, uint32_t value, uint32_t action) {
    emit_compare(program, BPF_JEQ, value, 0, 1);
    bpf_return(program, action);
}

void bpf_return_unless_equal(struct bpf_program *program, uint32_t value, uint32_t action) {
    emit_compare(program, BPF_JEQ, value, 1, 0);
    bpf_return(program, action);
}

void bpf_return_if_from(struct bpf_program *program, uint32_t value, uint32_t action) {
    emit_compare(program, BPF_JGE, value, 0, 1);
    bpf_return(program, action);
}

/* The jump itself takes an instruction of its own, for a condition reaches 255 only. */
static size_t emit_jump(struct bpf_program *program) {
    emit(program, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
    return program->count;
}

size_t bpf_skip_unless_equal(struct bpf_program *program, uint32_t value) {
    emit_compare(program, BPF_JEQ, value, 1, 0);
    return emit_jump(program);
}

size_t bpf_skip_if_from(struct bpf_program *program, uint32_t value) {
    emit_compare(program, BPF_JGE, value, 0, 1);
    return emit_jump(program);
}

void bpf_land(struct bpf_program *program, size_t place) {
    program->code[place - 1].k = (uint32_t)(program->count - place);
}
