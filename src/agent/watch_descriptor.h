/*
 * watch_descriptor.h - inotify descriptors that are used again.
 *
 * Closing one makes the kernel wait for whoever may be using it, up to tens of milliseconds, in
 * which the loop would stand still. One whose watches are all removed can serve another watch:
 * descriptors of watches are not given out twice, and events of old ones are of no directory known.
 */
#ifndef STEPBOX_WATCH_DESCRIPTOR_H
#define STEPBOX_WATCH_DESCRIPTOR_H

/* So many are kept. */
#define WATCH_DESCRIPTORS_KEPT 16

/* -1 with errno: EMFILE is also the limit fs.inotify.max_user_instances. */
int watch_descriptor_take(void);
/* Its watches have been removed. */
void watch_descriptor_give(int fd);

#endif
