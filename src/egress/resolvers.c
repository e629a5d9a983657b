#include "resolvers.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define RESOLV_CONF "/etc/resolv.conf"

static bool parse(char *text, union resolver *resolver) {
    char *zone = strchr(text, '%');
    if (zone)
        *zone++ = '\0';
    memset(resolver, 0, sizeof *resolver);
    if (inet_pton(AF_INET, text, &resolver->v4.sin_addr) == 1) {
        resolver->v4.sin_family = AF_INET;
        resolver->v4.sin_port = htons(53);
        return true;
    }
    if (inet_pton(AF_INET6, text, &resolver->v6.sin6_addr) != 1)
        return false;
    resolver->v6.sin6_family = AF_INET6;
    resolver->v6.sin6_port = htons(53);
    resolver->v6.sin6_scope_id = zone ? if_nametoindex(zone) : 0;
    return true;
}

static size_t read_file(union resolver list[RESOLVERS_MAX]) {
    FILE *file = fopen(RESOLV_CONF, "re");
    char line[512], address[128];
    size_t count = 0;
    while (file && count < RESOLVERS_MAX && fgets(line, sizeof line, file))
        if (sscanf(line, " nameserver %127s", address) == 1 && parse(address, &list[count]))
            count++;
    if (file)
        fclose(file);
    if (count == 0) {
        char local[] = "127.0.0.1"; /* as libc does */
        parse(local, &list[count++]);
    }
    return count;
}

size_t resolvers_read(union resolver list[RESOLVERS_MAX]) {
    static union resolver kept[RESOLVERS_MAX];
    static size_t count;
    static struct timespec changed;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct stat st = {0};
    stat(RESOLV_CONF, &st);
    pthread_mutex_lock(&lock);
    if (count == 0 || st.st_mtim.tv_sec != changed.tv_sec ||
        st.st_mtim.tv_nsec != changed.tv_nsec) {
        count = read_file(kept);
        changed = st.st_mtim;
    }
    size_t found = count;
    memcpy(list, kept, found * sizeof *list);
    pthread_mutex_unlock(&lock);
    return found;
}
