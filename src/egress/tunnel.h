/*
 * tunnel.h - connections that the firewall leads to stepbox-egress instead of letting them out:
 * each is served by a thread of its own, which finds out what is meant, checks it, connects outside
 * and passes bytes both ways.
 */
#ifndef STEPBOX_TUNNEL_H
#define STEPBOX_TUNNEL_H

typedef void tunnel_work(int client_fd);

/* Runs work in a thread and closes the socket (taken) after it. When too many run, the connection
 * is closed at once. */
void tunnel_start(int client_fd, tunnel_work *work);

/* Cuts all that run: what was allowed may not be so any more. */
void tunnel_cut_all(void);

/* A connection that was redirected. */
tunnel_work tunnel_redirected;

/* Passes bytes both ways until both sides have ended. Both sockets become non-blocking. */
void tunnel_relay(int first_fd, int second_fd);

#endif
