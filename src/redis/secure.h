/* SPDX-License-Identifier: MIT */
/*
 * secure: TLS over a connected socket that does not block; wire's use of tls.
 */
#ifndef RLOCK_SECURE_H
#define RLOCK_SECURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "redis/tls.h"

struct secure;

/* As tls_new. */
struct secure *secure_new(const struct tls_options *, const char *host,
    struct fault *);
void secure_free(struct secure *);	/* NULL is fine */

/* The socket is connected, or ready for something: go on with the handshake.
 * 1 when it is done, 0 when not yet, -1 when it has failed: secure_fault. */
int secure_shake(struct secure *, int fd);

/* As send(2) and recv(2) on fd; before the handshake is done EAGAIN; EPROTO
 * when secure_fault says why. */
ssize_t secure_send(struct secure *, int fd, const void *, size_t);
ssize_t secure_recv(struct secure *, int fd, void *, size_t);

/* Bytes wait for the socket to take them. */
bool secure_wants_write(const struct secure *);

const struct fault *secure_fault(const struct secure *);

#endif
