/* SPDX-License-Identifier: MIT */
/*
 * tls: the client's end of one TLS connection, between bytes in the clear and
 * bytes as they go over the wire.  It never sees a socket.  TLS 1.2 or later;
 * the certificate's chain, and that it is for this host, are checked.
 */
#ifndef RLOCK_TLS_H
#define RLOCK_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "words/config.h"

struct tls;

/*
 * For a server named host, a name or an IP address.  NULL and a fault:
 * FAULT_UNAVAILABLE when OpenSSL is not there or was left out of the build,
 * FAULT_USAGE when a file of the options can't be used.
 */
struct tls *tls_new(const struct tls_options *, const char *host,
    struct fault *);
void tls_free(struct tls *);

/* Bytes have come from the server.  0, or -1 without memory. */
int tls_feed(struct tls *, const void *data, size_t len);

/* Bytes that are to go to the server: how many, and up to cap of them. */
size_t tls_pending(const struct tls *);
size_t tls_take(struct tls *, void *out, size_t cap);

/* Go on with the handshake: 1 when it is done, 0 when bytes are needed first,
 * -1 and a FAULT_UNAVAILABLE. */
int tls_handshake(struct tls *, struct fault *);

/*
 * After the handshake: bytes written (all of them) or read, -1 and errno
 * EAGAIN, or EPROTO and a fault.
 */
ssize_t tls_write(struct tls *, const void *data, size_t len,
    struct fault *);
ssize_t tls_read(struct tls *, void *out, size_t cap, struct fault *);

#endif
