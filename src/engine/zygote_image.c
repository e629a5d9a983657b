#include "zygote_image.h"

/* ZYGOTE_LIBRARY: the path of the library, a string; the build gives it. */
__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global zygote_image\n"
        ".hidden zygote_image\n"
        "zygote_image:\n"
        ".incbin " ZYGOTE_LIBRARY "\n"
        ".global zygote_image_end\n"
        ".hidden zygote_image_end\n"
        "zygote_image_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char zygote_image_end[];

size_t zygote_image_size(void) {
    return (size_t)(zygote_image_end - zygote_image);
}
