#include "routes.h"

#include <stdio.h>
#include <string.h>

bool routes_have_default(bool v6, const char *link) {
    FILE *file = fopen(v6 ? "/proc/self/net/ipv6_route" : "/proc/self/net/route", "re");
    char line[512], name[64], to[64], bits[16];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        if (v6)
            found =
                sscanf(line, "%63s %15s %*s %*s %*s %*s %*s %*s %*s %63s", to, bits, name) == 3 &&
                strcmp(bits, "00") == 0;
        else
            found = sscanf(line, "%63s %63s", name, to) == 2 && strcmp(to, "00000000") == 0;
        /* Where there is none, the kernel has an unreachable one of IPv6 through the loopback. */
        found = found && (link ? strcmp(name, link) == 0 : strcmp(name, "lo") != 0);
    }
    if (file)
        fclose(file);
    return found;
}
