#include "usage.h"

/* The version of the whole of stepbox; the client's header has the same. */
#include "../core/stepbox.h"

static const char text[] =
    "stepboxd - the local engine of stepbox: makes isolated sandboxes and passes requests to them\n"
    "\n"
    "usage: stepboxd [options]\n"
    "\n"
    "With no options stepboxd serves programs of the same user over a unix socket, and stays in\n"
    "the foreground until it is told to stop (SIGTERM, Ctrl-C). Programs that use stepbox start\n"
    "it on their own when they need it, so most people never call it. Call it to serve the\n"
    "official E2B SDKs:\n"
    "\n"
    "    STEPBOX_API_KEY=e2b_0123abcd stepboxd --listen 127.0.0.1:3000\n"
    "\n"
    "and give them E2B_API_KEY=e2b_0123abcd, and http://127.0.0.1:3000 as both E2B_API_URL and\n"
    "E2B_SANDBOX_URL (they want a key of \"e2b_\" and hexadecimal digits).\n"
    "\n"
    "Where to listen\n"
    "  --socket PATH       the unix socket. Default: $STEPBOX_SOCKET, or else\n"
    "                      $XDG_RUNTIME_DIR/stepbox/engine.sock, or else\n"
    "                      /tmp/stepbox-UID/engine.sock. Its directory is made when it is\n"
    "                      missing; it must be yours and closed to others (mode 0700). Only you\n"
    "                      and root can use the engine. If one serves there already, that is\n"
    "                      enough: stepboxd exits with success.\n"
    "  --listen ADDR:PORT  serve TCP, for example 127.0.0.1:3000 or [::1]:3000. Without --socket\n"
    "                      no unix socket is served. The traffic is not encrypted: on an address\n"
    "                      that others can reach, put a TLS proxy in front.\n"
    "  --api-key KEY       what TCP clients must send as X-API-Key; required with --listen. Other\n"
    "                      users of the machine can see the arguments of a process while it\n"
    "                      starts: better set STEPBOX_API_KEY in the environment. The engine\n"
    "                      wipes both as soon as it has read them.\n"
    "  --domain DOMAIN     reported as the domain of each sandbox: clients then reach port P of\n"
    "                      sandbox ID as P-ID.DOMAIN, which must lead to the --listen address.\n"
    "\n"
    "How to run\n"
    "  --daemon            go to the background. The command returns when the engine is ready.\n"
    "  --ready-fd N        write \"ready\" and a newline to descriptor N when the engine serves, "
    "or\n"
    "                      \"error: \" and the reason when it cannot.\n"
    "  --idle-timeout S    leave after S seconds with no sandbox and no client; 0: never.\n"
    "                      Default: 60 with --daemon on a unix socket alone, else 0.\n"
    "  --log-level LEVEL   error, warn (default), info or debug; messages go to stderr.\n"
    "  --config FILE       what sandboxes may take of this machine (JSON). Default:\n"
    "                      $XDG_CONFIG_HOME/stepbox/engine.json or\n"
    "                      ~/.config/stepbox/engine.json, if it is there.\n"
    "  --help, --version   print this, or the version, and exit.\n"
    "\n"
    "What to run\n"
    "  --bwrap PATH        the bubblewrap program (0.8 or newer). Default: bwrap on PATH.\n"
    "  --agent PATH        the agent of the sandboxes. Default: stepbox-agent beside stepboxd.\n"
    "  --runners DIR       the language runners. Default: ../share/stepbox/runners beside the\n"
    "                      directory of stepboxd.\n"
    "\n"
    "Sandboxes live in Linux namespaces made by bubblewrap: they have no network but their own\n"
    "loopback, see none of your files but the programs under /usr, and are gone when they are\n"
    "killed, when their time is over, when the program that owns them ends, or when the engine\n"
    "does. Where user namespaces are forbidden stepboxd makes no sandbox, and says what to "
    "change.\n";

void usage_print(FILE *out) {
    fputs(text, out);
}

void usage_print_version(FILE *out) {
    fputs("stepboxd " SB_VERSION "\n", out);
}
