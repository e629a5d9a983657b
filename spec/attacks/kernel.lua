--- Parts of the kernel that code in a sandbox has no use for, each of which has had faults.

local attack = require "spec.support.attack"

return {
  title = "The kernel",

  {
    attack = "make system calls by the entry for 32-bit programs (int 0x80)",
    naive = "makes them: their numbers mean others to the filter",
    ours = "ENOSYS for all",
    c = [[
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void shut(int number) {
    (void)number;
    puts("none"); /* the kernel has no such entry */
    exit(0);
}
int main(void) {
    signal(SIGSEGV, shut);
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
    puts(result == getpid() ? "ok" : result == -ENOSYS ? "ENOSYS" : "other");
#else
    shut(0);
#endif
}]],
    lacking = "none|ENOSYS",
    answer = "ENOSYS",
  },
  {
    attack = "make system calls by the numbers of x32",
    naive = "makes them, where the kernel has x32",
    ours = "ENOSYS for all",
    c = [[
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    long result = syscall(0x40000000 + 39);
    puts(result == getpid() ? "ok" : errno == ENOSYS ? "ENOSYS" : "other");
}]],
    lacking = "ENOSYS",
    answer = "ENOSYS",
  },
  {
    attack = "io_uring, which makes calls that no filter sees",
    naive = "makes them",
    ours = "EPERM",
    python = 'probe(lambda: call("io_uring_setup", 1, ctypes.create_string_buffer(120)))',
    lacking = "ENOSYS|EPERM",
    answer = "EPERM",
  },
  {
    attack = "userfaultfd, which holds the kernel up in the middle of a copy",
    naive = "gets it",
    ours = "EPERM",
    python = 'probe(lambda: call("userfaultfd", 1))',
    lacking = "ENOSYS",
    answer = "EPERM",
  },
  {
    attack = "load programs and maps into the kernel (bpf)",
    naive = "root loads them",
    ours = "EPERM",
    needs = attack.needs_root,
    python = 'probe(lambda: call("bpf", 0, struct.pack("4I", 2, 4, 4, 1).ljust(128, b"\\0"), 128))',
    lacking = "ENOSYS",
    answer = "EPERM",
  },
  {
    attack = "count events of the processors (perf)",
    naive = "counts them, those of others too",
    ours = "EPERM",
    python = [[
attributes = struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, 1 << 5 | 1 << 6).ljust(112, b"\0")
probe(lambda: call("perf_event_open", attributes, 0, -1, -1, 0))]],
    lacking = "ENOSYS|EACCES|EPERM|ENOENT",
    answer = "EPERM",
  },
  {
    attack = "load a module into the kernel, or take one out",
    naive = "root does",
    ours = "EPERM, before the kernel looks at it",
    needs = attack.needs_root,
    python = [[
attempts({
    "load": lambda: call("init_module", b"no module", 9, b""),
    "load a file": lambda: call("finit_module", os.open("/usr/bin/true", os.O_RDONLY), b"", 0),
    "take out": lambda: call("delete_module", b"no_such_module", 0x800)})]],
    works = "ENOENT for take out, ENOEXEC for load load a file",
    lacking = "ENOSYS.*|EPERM",
    answer = "EPERM",
  },
  {
    attack = "start another kernel (kexec)",
    naive = "root does",
    ours = "EPERM",
    needs = attack.needs_root,
    python = 'probe(lambda: call("kexec_load", 0, 0, None, 0))',
    lacking = "ENOSYS|EPERM",
    answer = "EPERM",
  },
  {
    attack = "read the kernel's messages (syslog)",
    naive = "reads them, with addresses",
    ours = "EPERM",
    needs = attack.needs_root,
    python = 'probe(lambda: call("syslog", 10, None, 0))',
    lacking = "ENOSYS|EPERM",
    answer = "EPERM",
  },
  {
    attack = "account for every process to a file of one's own (acct)",
    naive = "root does",
    ours = "EPERM, before the kernel looks for the file",
    needs = attack.needs_root,
    python = 'probe(lambda: call("acct", b"/no/such/file"))',
    works = "ENOENT",
    lacking = "ENOSYS|EPERM",
    answer = "EPERM",
  },
  {
    attack = "set the host's clock",
    naive = "root sets it for everybody",
    ours = "EPERM",
    needs = attack.needs_root,
    python = [[
# What sets nothing, and takes the same rights.
probe(lambda: call("settimeofday", None, None))]],
    lacking = "EPERM",
    answer = "EPERM",
  },
  {
    attack = "set the speed of the host's clock (adjtimex, clock_adjtime)",
    naive = "root sets it for everybody",
    ours = "EPERM",
    needs = attack.needs_root,
    python = [[
def adjust(name, *clock):
    state = ctypes.create_string_buffer(208)
    call(name, *clock, state)
    struct.pack_into("I", state, 0, 0x10)  # the status, as it is
    call(name, *clock, state)
attempts({"adjtimex": lambda: adjust("adjtimex"), "clock_adjtime": lambda: adjust("clock_adjtime", 0)})]],
    lacking = "EPERM",
    answer = "EPERM",
  },
  {
    attack = "rename the host (sethostname, setdomainname)",
    naive = "root of a namespace does",
    ours = "EPERM",
    where = "namespaces",
    python = [[
attempts({
    "host": lambda: call("sethostname", b"other", 5),
    "domain": lambda: call("setdomainname", b"other", 5)})]],
    answer = "EPERM",
  },
  {
    attack = "segments of one's own, and the ports of devices (modify_ldt, iopl)",
    naive = "gets them",
    ours = "EPERM",
    needs = attack.needs_root,
    python = [[
attempts({
    "segments": lambda: call("modify_ldt", 0, ctypes.create_string_buffer(64), 64),
    "ports": lambda: call("iopl", 0)})]],
    lacking = "ENOSYS.*|.*ENOSYS for.*",
    answer = "EPERM",
  },
  {
    attack = "use up the host's queues for asynchronous files (io_setup)",
    naive = "takes them all: their number is one for the host",
    ours = "EPERM",
    python = 'probe(lambda: call("io_setup", 1, ctypes.create_string_buffer(8)))',
    lacking = "ENOSYS",
    answer = "EPERM",
  },
  {
    attack = "give pages of one's memory to a pipe (vmsplice)",
    naive = "gives them, and changes them on their way",
    ours = "EPERM",
    python = [[
page = ctypes.create_string_buffer(b"x" * 16)
pages = struct.pack("QQ", ctypes.addressof(page), 16)
probe(lambda: call("vmsplice", os.pipe()[1], pages, 1, 0))]],
    answer = "EPERM",
  },
  {
    attack = "take the huge pages that the host has set aside (mmap, memfd_create, shmget)",
    naive = "takes them all: they are counted by no control group, nor is anybody asked who he is",
    ours = "ENOMEM, as on a host that has none",
    python = [[
def new_file():
    os.close(call("memfd_create", b"x", 4))
def new_memory():
    libc.mmap.restype = ctypes.c_void_p
    if libc.mmap(None, ctypes.c_size_t(2 << 20), 3, 0x22 | 0x40000, -1, 0) == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "")
def new_segment():
    if libc.shmget(0, 2 << 20, 0o1600 | 0o4000) < 0:
        raise OSError(ctypes.get_errno(), "")
attempts({"file": new_file, "memory": new_memory, "segment": new_segment})]],
    works = "ok.*|.*ok for .*file.*", -- the host may have set none aside
    lacking = "ENOSYS.*|.*ENOSYS for file.*",
    answer = "ENOMEM",
  },
  {
    attack = "a call that nobody knows yet",
    naive = "whatever the next kernel makes of it",
    ours = "ENOSYS: what is on no list is shut",
    python = [[
answers = set()
for number in [@known@, *range(500, 512)]:
    libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
    answers.add(errno.errorcode[ctypes.get_errno()])
print(*sorted(answers))]],
    -- landlock_restrict_self, which both let through to the kernel, shows that answers differ.
    prepare = function() return { outside = { known = 446 }, inside = { known = 511 } } end,
    works = "E.* ENOSYS|ENOSYS E.*",
    lacking = "ENOSYS",
    answer = "ENOSYS",
  },
}
