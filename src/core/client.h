/*
 * client.h - a loop and a configuration, together.
 */
#ifndef STEPBOX_CORE_CLIENT_H
#define STEPBOX_CORE_CLIENT_H

#include "config.h"
#include "loop.h"

struct sb_client {
    sb_loop *loop;
    struct sbi_config *config;
};

#endif
