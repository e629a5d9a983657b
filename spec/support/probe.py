# What every probe of the attack suite starts with: system calls by name, and answers as the name of an errno.
import ctypes
import errno
import os
import platform
import signal
import socket
import struct
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
MACHINE = platform.machine()

# name: (x86-64, arm64). Those from 424 on have the same number everywhere.
NUMBERS = {
    "clone": (56, 220), "modify_ldt": (154, -1), "iopl": (172, -1), "io_setup": (206, 0), "ptrace": (101, 117), "syslog": (103, 116), "setsid": (112, 157),
    "personality": (135, 92), "pivot_root": (155, 41), "adjtimex": (159, 171), "chroot": (161, 51),
    "acct": (163, 89), "settimeofday": (164, 170), "mount": (165, 40), "umount2": (166, 39),
    "swapon": (167, 224), "reboot": (169, 142), "sethostname": (170, 161), "setdomainname": (171, 162),
    "init_module": (175, 105), "delete_module": (176, 106), "quotactl": (179, 60),
    "clock_settime": (227, 112), "mq_open": (240, 180), "kexec_load": (246, 104), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219), "unshare": (272, 97), "vmsplice": (278, 75),
    "move_pages": (279, 239), "perf_event_open": (298, 241), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "clock_adjtime": (305, 266), "setns": (308, 268), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "kcmp": (312, 272), "finit_module": (313, 273), "seccomp": (317, 277),
    "memfd_create": (319, 279), "kexec_file_load": (320, 294), "bpf": (321, 280), "execveat": (322, 281),
    "userfaultfd": (323, 282), "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "pidfd_open": (434, 434), "clone3": (435, 435),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "mount_setattr": (442, 442),
    "memfd_secret": (447, 447), "statmount": (457, 457), "listmount": (458, 458),
}


def call(name, *arguments):
    """The system call of that name. Raises OSError when the kernel refuses it."""
    number = NUMBERS[name][MACHINE == "aarch64"]
    wide = [a if isinstance(a, (bytes, ctypes.Array, ctypes.Structure)) or a is None else ctypes.c_long(a)
            for a in arguments]
    wide = [ctypes.byref(a) if isinstance(a, ctypes.Structure) else a for a in wide]
    result = libc.syscall(ctypes.c_long(number), *wide)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def answer(action, *arguments):
    """How an action ends: "ok", the name of an errno, or what the action returns as text."""
    try:
        result = action(*arguments)
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
    return result if isinstance(result, str) else "ok"


def probe(action, *arguments):
    """Says how an action ends."""
    print(answer(action, *arguments), flush=True)


def in_child(action):
    """How an action ends in a child process; how the child was killed, if it was."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, answer(action).encode())
        finally:
            os._exit(0)
    os.close(write)
    text = os.read(read, 1000).decode()
    os.close(read)
    status = os.waitpid(child, 0)[1]
    return "killed by " + signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else text


def attempts(actions):
    """How each of several actions ends, alike ones once: "EPERM", or "EPERM for mount, ok for bind"."""
    ends = {}
    for name, action in actions.items():
        ends.setdefault(in_child(action), []).append(name)
    if len(ends) == 1:
        print(*ends)
    else:
        print(", ".join(f"{end} for {' '.join(names)}" for end, names in sorted(ends.items())))
