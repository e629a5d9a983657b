/* System calls under the filter, and those it refuses, as the kernel hands them over: any number
 * and arguments, of any architecture. What is refused is counted under a name, and gets the error
 * that the kernel would give by itself where it cannot hand calls over. */
#include "syscall_filter.h"

#include "../fuzz.h"

#define assert_true FUZZ_CHECK
#define assert_int_equal(a, b) FUZZ_CHECK((a) == (b))
#include "../../spec/engine/bpf.h"

#include <linux/audit.h>

static const uint32_t architectures[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64, AUDIT_ARCH_I386};
static struct syscall_filter *filters[2];
static struct bpf counted[2], alone[2];

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    char message[300] = "";
    (void)argc, (void)argv;
    for (int i = 0; i < 2; i++) {
        struct syscall_filter *other =
            syscall_filter_for(architectures[i], false, message, sizeof message);
        filters[i] = syscall_filter_for(architectures[i], true, message, sizeof message);
        FUZZ_CHECK(filters[i] && other);
        bpf_read(&counted[i], syscall_filter_fd(filters[i]));
        bpf_read(&alone[i], syscall_filter_fd(other));
        syscall_filter_free(other);
    }
    return 0;
}

static void check_refused(int which, const struct seccomp_data *call, uint32_t action) {
    size_t kind = syscall_filter_kind(filters[which], call);
    FUZZ_CHECK(kind < SYSCALL_KINDS);
    const char *name = syscall_filter_kind_name(filters[which], kind);
    FUZZ_CHECK(name && *name && fuzz_is_printable(name));
    int error = syscall_filter_error(filters[which], call);
    FUZZ_CHECK(error > 0 && error < 4096);
    /* The program alone has one error for all that ioctl is refused. */
    FUZZ_CHECK(strcmp(name, "ioctl") == 0 || action == (SECCOMP_RET_ERRNO | (uint32_t)error));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct seccomp_data call = {0};
    unsigned how = fuzz_byte(&input);
    int which = how & 1;
    if (input.length)
        memcpy(&call, input.bytes, input.length < sizeof call ? input.length : sizeof call);
    if (how >> 1 < 3)
        call.arch = architectures[how >> 1];
    uint32_t action = bpf_run(&counted[which], &call), other = bpf_run(&alone[which], &call);
    if (action == SECCOMP_RET_ALLOW) {
        FUZZ_CHECK(other == SECCOMP_RET_ALLOW);
        FUZZ_CHECK(call.arch == architectures[which]);
    } else if (action == SECCOMP_RET_USER_NOTIF) {
        check_refused(which, &call, other);
    } else {
        FUZZ_CHECK(action == other && (action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO);
    }
    return 0;
}
