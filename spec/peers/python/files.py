"""Files: every way to write and read them, what is said about them, and what goes wrong."""

import hashlib
import io
import os
import time
import urllib.error
import urllib.parse
import urllib.request

from e2b import (
    AuthenticationException,
    FileNotFoundException,
    FileType,
    InvalidArgumentException,
    NotEnoughSpaceException,
    NotFoundException,
)
from in_sandbox import fails, in_sandbox

EVERY_BYTE = bytes(range(256))


def sha256(data):
    return hashlib.sha256(data).hexdigest()


with in_sandbox("files") as box:
    files, commands = box.files, box.commands

    # Text, bytes, files and iterators: in any way, out in every format.
    text = "grüße 🌍\r\n\tend"
    written = files.write("text", text)
    assert (written.name, written.type, written.path) == ("text", FileType.FILE, "/home/user/text")
    assert files.read("text") == text
    assert files.read("/home/user/text") == text
    for options in [{}, {"use_octet_stream": True}, {"gzip": True}]:
        for data in [EVERY_BYTE, io.BytesIO(EVERY_BYTE)]:
            assert files.write("a/new/bytes", data, **options).path == "/home/user/a/new/bytes"
            for gzip in [False, True]:
                assert files.read("a/new/bytes", format="bytes", gzip=gzip) == EVERY_BYTE
                with files.read("a/new/bytes", format="stream", gzip=gzip) as stream:
                    assert b"".join(stream) == EVERY_BYTE
    files.write("iterated", (EVERY_BYTE for _ in range(1000)))
    assert files.read("iterated", format="bytes") == EVERY_BYTE * 1000
    files.write("file", io.StringIO(text))
    assert files.read("file", format="bytes") == text.encode()
    assert commands.run('stat -c "%U %a" a/new a/new/bytes').stdout == "user 755\nuser 644\n"

    # Shorter over longer, and nothing at all.
    files.write("text", "short")
    assert files.read("text") == "short"
    for options in [{}, {"use_octet_stream": True}, {"gzip": True}]:
        files.write("empty", "", **options)
        assert files.read("empty") == ""
        assert files.read("empty", format="bytes") == b""
        with files.read("empty", format="stream") as stream:
            assert list(stream) == []
        assert files.get_info("empty").size == 0

    # Several at once, in one request or in one each.
    for octets in [False, True]:
        many = files.write_files(
            [{"path": f"many/{octets}/{i % 4}/f{i}", "data": str(i)} for i in range(20)], use_octet_stream=octets
        )
        assert [entry.name for entry in many] == [f"f{i}" for i in range(20)]
        assert all(f"f{files.read(entry.path)}" == entry.name for entry in many)

    # Names of all kinds.
    names = ["two words", "it's", '"quoted"', "new\nline", "tab\t", "grüße 🌍", "-rf", "%41+&?#", "\\", "*", "a;b"]
    for name in names:
        for options in [{}, {"use_octet_stream": True}]:
            path = f"names/{name}/{name}"
            assert files.write(path, name, **options).path == f"/home/user/{path}"
            assert files.read(path) == name
            assert files.get_info(path).name == name
            assert [entry.name for entry in files.list(f"names/{name}")] == [name]
            files.remove(f"names/{name}")
    assert files.list("names") == []

    # 5 MB, whole and in pieces.
    big = os.urandom(5_000_000)
    files.write("big", big)
    assert commands.run("sha256sum < big").stdout == f"{sha256(big)}  -\n"
    files.write("streamed", (big[at:at + 1_000_000] for at in range(0, len(big), 1_000_000)))
    assert commands.run("cmp big streamed && echo same").stdout == "same\n"
    digest = hashlib.sha256()
    with files.read("big", format="stream") as stream:
        for piece in stream:
            digest.update(piece)
    assert digest.hexdigest() == sha256(big)
    assert sha256(files.read("big", format="bytes", gzip=True)) == sha256(big)

    # What is said about entries.
    metadata = {"owner": "me", "x-note": 'a = "b"; c'}
    assert files.write("noted", "x", metadata=metadata).metadata == metadata
    assert files.get_info("noted").metadata == metadata
    files.write("noted", "y", metadata={"other": "1"}, use_octet_stream=True)
    assert files.get_info("noted").metadata == {"other": "1"}
    commands.run("chmod 640 noted; ln -s noted link; mkfifo pipe")
    info = files.get_info("noted")
    assert (info.type, info.size, info.mode, info.permissions) == (FileType.FILE, 1, 0o640, "-rw-r-----"), info
    assert (info.owner, info.group, info.symlink_target) == ("user", "user", None)
    assert abs(info.modified_time.timestamp() - time.time()) < 60
    link = files.get_info("link")
    assert (link.name, link.symlink_target) == ("link", "/home/user/noted")
    assert files.get_info("a").type == FileType.DIR

    # Directories: made once, listed to a depth, renamed and removed with all below.
    assert files.make_dir("d/e/f") is True
    assert files.make_dir("d/e/f") is False
    files.write("d/e/f/deep", "x")
    files.write("d/top", "x")

    def paths(**options):
        return [entry.path.removeprefix("/home/user/d/") for entry in files.list("d", **options)]

    assert paths() == ["e", "top"]
    assert paths(depth=2) == ["e", "e/f", "top"]
    assert paths(depth=9) == ["e", "e/f", "e/f/deep", "top"]
    assert files.rename("d/e", "moved").path == "/home/user/moved"
    assert files.read("moved/f/deep") == "x"
    assert files.exists("moved")
    files.remove("moved")
    assert not files.exists("moved")

    # What goes wrong, by kind.
    with fails(FileNotFoundException):
        files.read("not there")
    with fails(FileNotFoundException):
        files.read("not there", format="stream")
    with fails(NotFoundException):
        files.get_info("not there")
    with fails(FileNotFoundException):
        files.list("not there")
    with fails(FileNotFoundException):
        files.rename("not there", "x")
    with fails(InvalidArgumentException):
        files.read("d")
    with fails(InvalidArgumentException):
        files.write("d", "x")
    with fails(InvalidArgumentException):
        files.list("text")
    with fails(InvalidArgumentException):
        files.make_dir("text")
    with fails(AuthenticationException):
        files.read("text", user="nobody-like-this")
    assert files.read("text", user="user") == "short"
    commands.run("fallocate -l $(( $(df --output=avail -B1 /tmp | tail -1) - 1000000 )) /tmp/filler")
    with fails(NotEnoughSpaceException):
        files.write("/tmp/more", big)
    with fails(NotEnoughSpaceException):
        files.write("/tmp/more", iter([big]))
    commands.run("rm /tmp/filler")

    # Signed addresses, for those who have neither key nor token. The one that the SDK makes names the engine alone,
    # since E2B_SANDBOX_URL does; so the requests say which sandbox they mean, as the SDK's own do.
    headers = {"E2b-Sandbox-Id": box.sandbox_id, "E2b-Sandbox-Port": "49983"}

    def call(url, body=None):
        request = urllib.request.Request(url, data=body, headers=dict(headers))
        if body is not None:
            request.add_header("Content-Type", "multipart/form-data; boundary=b")
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n' + EVERY_BYTE + b"\r\n--b--\r\n"
    for options in [{}, {"use_signature_expiration": 60}, {"user": "user"}]:
        status, body = call(box.upload_url("by url/ö", **options), form)
        assert status == 200, body
        assert call(box.download_url("by url/ö", **options)) == (200, EVERY_BYTE)
    url = box.download_url("text")
    assert call(url)[0] == 200
    assert call(url.replace("path=text", "path=noted"))[0] == 401
    assert call(box.download_url("text", use_signature_expiration=-5))[0] == 401
    assert call(box.upload_url("text"))[0] == 401
