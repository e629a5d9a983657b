/* language_kernels.c - see language_kernels.h */
#include "language_kernels.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Code can make as many folders as it likes. */
#define KERNELS_MAX 200

struct kernel {
    struct language language;
    char name[LANGUAGE_NAME_MAX];
    char folder[LANGUAGE_NAME_MAX]; /* as it is written */
};

struct language_kernels {
    char *home;
    struct kernel *kernels[KERNELS_MAX];
    size_t count;
};

/* Jupyter's data directories, the user's first, as `jupyter --paths` has them. */
static const char *const below_home = ".local/share/jupyter/kernels";
static const char *const of_system[] = {"/usr/local/share/jupyter/kernels",
                                        "/usr/share/jupyter/kernels"};

struct language_kernels *language_kernels_new(const char *home) {
    struct language_kernels *kernels = calloc(1, sizeof *kernels);
    if (kernels && !(kernels->home = strdup(home))) {
        free(kernels);
        return NULL;
    }
    return kernels;
}

void language_kernels_free(struct language_kernels *kernels) {
    if (!kernels)
        return;
    for (size_t i = 0; i < kernels->count; i++)
        free(kernels->kernels[i]);
    free(kernels->home);
    free(kernels);
}

/* The characters that Jupyter allows in the name of a kernel. */
static bool is_name(const char *folder) {
    if (*folder == '.' || !*folder)
        return false;
    for (const char *c = folder; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            return false;
    }
    return strlen(folder) < LANGUAGE_NAME_MAX - sizeof LANGUAGE_KERNEL_PREFIX;
}

/* The kernel of that folder, made when it was not known. */
static const struct language *intern(struct language_kernels *kernels, const char *folder) {
    for (size_t i = 0; i < kernels->count; i++) {
        if (strcmp(kernels->kernels[i]->folder, folder) == 0)
            return &kernels->kernels[i]->language;
    }
    struct kernel *kernel = kernels->count < KERNELS_MAX ? calloc(1, sizeof *kernel) : NULL;
    if (!kernel)
        return NULL;
    strcpy(kernel->folder, folder);
    snprintf(kernel->name, sizeof kernel->name, LANGUAGE_KERNEL_PREFIX "%.50s", folder);
    for (char *c = kernel->name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    kernel->language = (struct language){
        .name = kernel->name,
        .folder = "jupyter",
        .file = "main.py",
        .programs = {"/usr/bin/python3", "python3"},
        .variant = kernel->folder,
        .needs = {"/usr/lib/python3*/*-packages/jupyter_client:"
                  "/usr/local/lib/python3*/*-packages/jupyter_client"},
        .packages = "python3-jupyter-client",
    };
    kernels->kernels[kernels->count++] = kernel;
    return &kernel->language;
}

typedef bool visitor(const struct language *language, void *user);

/* Visits the kernels of a directory until the visitor says that it is enough. */
static bool visit_directory(struct language_kernels *kernels, const char *path, visitor *visit,
                            void *user) {
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool enough = false;
    while (directory && !enough && (entry = readdir(directory))) {
        char file[4096];
        int length = snprintf(file, sizeof file, "%s/%s/kernel.json", path, entry->d_name);
        if (!is_name(entry->d_name) || length < 0 || (size_t)length >= sizeof file ||
            access(file, R_OK) != 0)
            continue;
        const struct language *language = intern(kernels, entry->d_name);
        enough = !language || visit(language, user);
    }
    if (directory)
        closedir(directory);
    return enough;
}

static void visit_all(struct language_kernels *kernels, visitor *visit, void *user) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", kernels->home, below_home);
    if (length > 0 && (size_t)length < sizeof path && visit_directory(kernels, path, visit, user))
        return;
    for (size_t i = 0; i < sizeof of_system / sizeof *of_system; i++) {
        if (visit_directory(kernels, of_system[i], visit, user))
            return;
    }
}

struct search {
    const char *name;
    const struct language *found;
};

static bool compare(const struct language *language, void *user) {
    struct search *search = user;
    if (strcmp(language->name, search->name) != 0)
        return false;
    search->found = language;
    return true;
}

const struct language *language_kernels_find(struct language_kernels *kernels, const char *normal) {
    struct search search = {.name = normal};
    visit_all(kernels, compare, &search);
    return search.found;
}

struct each {
    void (*call)(const struct language *language, void *user);
    void *user;
};

static bool call_each(const struct language *language, void *user) {
    const struct each *each = user;
    each->call(language, each->user);
    return false;
}

void language_kernels_each(struct language_kernels *kernels,
                           void (*each)(const struct language *language, void *user), void *user) {
    struct each call = {each, user};
    visit_all(kernels, call_each, &call);
}
