"""Writes an archive to standard output, as a sandbox that means ill (or well) would send it: hostile.py CASE."""
import io
import sys
import tarfile


def member(name, kind=tarfile.REGTYPE, data=b"", target="", mode=None, size=None):
    info = tarfile.TarInfo(name)
    if mode is None:
        mode = 0o755 if kind == tarfile.DIRTYPE else 0o644
    info.type, info.linkname, info.mode, info.mtime = kind, target, mode, 1000000000
    info.size = len(data) if size is None else size
    return info, io.BytesIO(data)


DIRECTORY, SYMLINK, HARD_LINK = tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE

CASES = {
    "absolute": [member("/tmp/stepbox-escape", data=b"x")],
    "dotdot": [member("../escape", data=b"x")],
    "inner_dotdot": [member("a/../../escape", data=b"x")],
    "dotdot_directory": [member("a/..", DIRECTORY)],
    "symlink_then_file": [member("link", SYMLINK, target=".."), member("link/escape", data=b"x")],
    "symlink_absolute_then_file": [member("link", SYMLINK, target="/tmp"), member("link/escape", data=b"x")],
    "symlink_then_same_name": [member("link", SYMLINK, target="../escape"), member("link", data=b"inside")],
    "symlink_then_directory": [member("link", SYMLINK, target=".."), member("link", DIRECTORY),
                               member("link/inside", data=b"x")],
    "directory_then_symlink": [member("d", DIRECTORY), member("d", SYMLINK, target=".."),
                               member("d/escape", data=b"x")],
    "directory_mode_through_symlink": [member("d", DIRECTORY, mode=0o777), member("d", SYMLINK, target="..")],
    "hard_link_outside": [member("h", HARD_LINK, target="../secret")],
    "hard_link_absolute": [member("h", HARD_LINK, target="/etc/passwd")],
    "hard_link_through_symlink": [member("link", SYMLINK, target=".."), member("h", HARD_LINK, target="link/secret")],
    "hard_link_to_symlink": [member("link", SYMLINK, target="../secret"), member("h", HARD_LINK, target="link")],
    "hard_link_to_nothing": [member("h", HARD_LINK, target="nothing")],
    "hard_link_to_itself": [member("h", data=b"kept"), member("h", HARD_LINK, target="h")],
    "hard_link_inside": [member("d/a", data=b"once"), member("b", HARD_LINK, target="./d/a"), member("b", data=b"new")],
    "devices": [member("null", tarfile.CHRTYPE), member("disk", tarfile.BLKTYPE), member("pipe", tarfile.FIFOTYPE),
                member("after", data=b"x")],
    "set_id": [member("s", data=b"x", mode=0o7755), member("d", DIRECTORY, mode=0o7755)],
    "world_writable": [member("f", data=b"x", mode=0o766), member("d", DIRECTORY, mode=0o777)],
    "file_then_directory": [member("x", data=b"file"), member("x", DIRECTORY), member("x/y", data=b"below")],
    "directory_then_file": [member("x", DIRECTORY), member("x", data=b"file")],
    "full_directory_then_file": [member("x/y", data=b"below"), member("x", data=b"file")],
    "file_as_directory": [member("x", data=b"file"), member("x/y", data=b"below")],
    "long_name": [member("/".join(["n" * 200] * 30), data=b"deep")],
    "long_component": [member("n" * 300, data=b"x")],
    "endless_name": [member("n/" * 20000 + "x", data=b"x")],
    "deep": [member("d/" * 2500 + "leaf", data=b"deep")],
    "bytes": [member("caf\udce9 \u00e9 e\u0301\n\udcff", data=b"named")],
    "root_entry": [member("./", DIRECTORY, mode=0o000), member("./a", data=b"x")],
    "read_only_directory": [member("r", DIRECTORY, mode=0o555), member("r/a", data=b"x"), member("r/b/c", data=b"x"),
                            member("s", data=b"x")],
    "empty": [],
}


def write(members, out, format=tarfile.PAX_FORMAT):
    with tarfile.open(fileobj=out, mode="w|", format=format, encoding="utf-8", errors="surrogateescape") as archive:
        for info, data in members:
            archive.addfile(info, data)


def main():
    case, out = sys.argv[1], sys.stdout.buffer
    if case == "huge":  # announces 8 EiB and brings a little
        info, _ = member("huge", size=2**63 - 1)
        out.write(info.tobuf(tarfile.GNU_FORMAT) + b"x" * 4096)
    elif case == "huge_pax_header":
        info, _ = member("h", tarfile.XHDTYPE, size=2**40)
        out.write(info.tobuf(tarfile.GNU_FORMAT) + b"x" * 4096)
    elif case == "empty_name":
        info, _ = member("x")
        header = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
        header[0] = 0
        total = sum(header[:148]) + 8 * 32 + sum(header[156:512])
        header[148:156] = b"%06o\0 " % total
        out.write(bytes(header) + b"\0" * 1024)
    elif case == "gnu":
        write([member("g/" + "n" * 150, data=b"gnu"), member("l", SYMLINK, target="t" * 150)], out, tarfile.GNU_FORMAT)
    elif case == "no_end":
        whole = io.BytesIO()
        write([member("a", data=b"x")], whole)
        out.write(whole.getvalue()[:1024])
    else:
        write(CASES[case], out)


main()
