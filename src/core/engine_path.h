/*
 * engine_path.h - where stepboxd may be.
 */
#ifndef STEPBOX_CORE_ENGINE_PATH_H
#define STEPBOX_CORE_ENGINE_PATH_H

#include "buffer.h"
#include "config.h"

/* The path of stepboxd as malloc()ed memory: what the configuration says, or from beside this
 * library, the directory where programs are installed, or PATH. NULL: then `tried` lists where it
 * was looked for, as text for a message. */
char *sbi_engine_path(const struct sbi_config *config, const char *installed,
                      struct sbi_buffer *tried);

#endif
