"""Lines that the agent takes: of a result that is too long for one, its longest formats are left
out, and texts are cut and say so. The runner would not live on otherwise.
"""

MAX_LINE = 60 * 1024 * 1024  # bytes; the agent ends a runner that sends 64 MiB
MAX_TEXT = 1024 * 1024  # characters of a text that was cut; each takes up to twelve bytes


def _cut(text):
    if len(text) <= MAX_TEXT:
        return text
    return "%s... (%d characters)" % (text[:MAX_TEXT], len(text))


def _formats(event):
    """Where the formats of a result are: (dict, key)."""
    for key in event["extra"]:
        yield event["extra"], key
    for key in event:
        if key not in ("type", "text", "extra", "is_main_result"):
            yield event, key


def _shortened_result(event, encode):
    event = dict(event, extra=dict(event["extra"]))
    if "text" in event:
        event["text"] = _cut(event["text"])
    sizes = [(len(encode(where[key])), where, key) for where, key in _formats(event)]
    sizes.sort(key=lambda size: size[0])
    total, left_out = sum(size for size, _, _ in sizes), []
    while sizes and total > MAX_LINE - 12 * MAX_TEXT:
        size, where, key = sizes.pop()
        del where[key]
        total -= size
        left_out.append("%s of %d bytes" % (key, size))
    return event, left_out


def shortened(event, encode):
    """The event in a form that fits, and what a result had to leave out."""
    if event["type"] == "result":
        return _shortened_result(event, encode)
    return {
        key: _cut(value) if isinstance(value, str) else value for key, value in event.items()
    }, []
