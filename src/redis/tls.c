/* SPDX-License-Identifier: MIT */
/*
 * tls: see tls.h.  Owns what is loaded of OpenSSL: only when a URL asks for
 * TLS, so that other runs don't pay for it.  Between two memory BIOs, so that
 * the socket stays ours, and no write of the library's raises SIGPIPE.
 */
#include "redis/tls.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "redis/tls_api.h"

/* Of OpenSSL's headers, the same in 1.1.1 and 3.x; test_tls_api checks them. */
#include "redis/tls_numbers.h"

#define RECORD_ALERT 0x15
#define RECORD_HANDSHAKE 0x16

struct tls {
	struct ssl_ctx_st *ctx;
	struct ssl_st *ssl;
	struct bio_st *in, *out; /* owned by ssl */
	int first;		 /* byte the server sent, -1: none yet */
};

#define POINTER(returns, name, arguments) static returns(*p_##name) arguments;
TLS_API(POINTER)
#undef POINTER

static void *
open_library(void)
{
	static const char *const names[] = { "libssl.so.3", "libssl.so.1.1" };
	void *library = NULL;
	size_t i;

	for (i = 0; library == NULL && i < sizeof(names) / sizeof(names[0]);
	     i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* 0, or -1 and a fault.  Stays loaded for the life of the process. */
static int
load(struct fault *fault)
{
	static void *library;
	const char *missing = NULL;

	if (library != NULL)
		return 0;
	if ((library = open_library()) == NULL)
		return fault_set(fault, FAULT_UNAVAILABLE, 0,
		    "TLS needs OpenSSL's libssl.so.3 or libssl.so.1.1, which "
		    "is not here (Debian's package is libssl3)");
		/* By memcpy: ISO C has no cast from an object to a function. */
#define LOOK_UP(returns, name, arguments) \
	{ \
		void *found = dlsym(library, #name); \
		memcpy(&p_##name, &found, sizeof(found)); \
		if (found == NULL) \
			missing = #name; \
	}
	TLS_API(LOOK_UP)
#undef LOOK_UP
	if (missing == NULL)
		return 0;
	dlclose(library);
	library = NULL;
	return fault_set(fault, FAULT_UNAVAILABLE, 0,
	    "TLS: this libssl has no %s", missing);
}

static const char *
reason(void)
{
	const char *text = p_ERR_reason_error_string(p_ERR_peek_last_error());

	return text == NULL ? "no reason given" : text;
}

static int
bad_file(struct fault *fault, const char *option, const char *file)
{
	if (access(file, R_OK) == -1)
		return fault_set(fault, FAULT_USAGE, errno,
		    "option %s: '%.200s'", option, file);
	return fault_set(fault, FAULT_USAGE, 0, "option %s: '%.200s': %s",
	    option, file, reason());
}

static int
set_trust(struct ssl_ctx_st *ctx, const struct tls_options *o,
    struct fault *fault)
{
	if (o->cacert != NULL &&
	    p_SSL_CTX_load_verify_locations(ctx, o->cacert, NULL) != 1)
		return bad_file(fault, "--tls-cacert", o->cacert);
	if (o->cacert == NULL)
		/* Without any, no certificate passes; that is told then. */
		(void)p_SSL_CTX_set_default_verify_paths(ctx);
	if (o->cert != NULL &&
	    p_SSL_CTX_use_certificate_chain_file(ctx, o->cert) != 1)
		return bad_file(fault, "--tls-cert", o->cert);
	if (o->key != NULL &&
	    (p_SSL_CTX_use_PrivateKey_file(ctx, o->key, FILETYPE_PEM) != 1 ||
		p_SSL_CTX_check_private_key(ctx) != 1))
		return bad_file(fault, "--tls-key", o->key);
	p_SSL_CTX_set_verify(ctx, o->insecure ? VERIFY_NONE : VERIFY_PEER,
	    NULL);
	return 0;
}

/* Whom we want to talk to: in the hello, and in the certificate. */
static int
set_peer(struct ssl_st *ssl, const char *host)
{
	struct X509_VERIFY_PARAM_st *param = p_SSL_get0_param(ssl);
	char name[256];
	struct in6_addr address;

	if (inet_pton(AF_INET, host, &address) == 1 ||
	    inet_pton(AF_INET6, host, &address) == 1)
		return p_X509_VERIFY_PARAM_set1_ip_asc(param, host);
	if (strlen(host) >= sizeof(name))
		return 0;
	strcpy(name, host);
	p_X509_VERIFY_PARAM_set_hostflags(param, NO_PARTIAL_WILDCARDS);
	return p_X509_VERIFY_PARAM_set1_host(param, host, 0) == 1 &&
	    p_SSL_ctrl(ssl, CTRL_SET_HOSTNAME, NAMETYPE_HOST, name) == 1;
}

static int
set_up(struct tls *t, const struct tls_options *o, const char *host,
    struct fault *fault)
{
	p_ERR_clear_error();
	if ((t->ctx = p_SSL_CTX_new(p_TLS_client_method())) == NULL)
		goto out;
	if (set_trust(t->ctx, o, fault) == -1)
		return -1;
	if (p_SSL_CTX_ctrl(t->ctx, CTRL_SET_MIN_VERSION, VERSION_TLS_1_2,
		NULL) != 1 ||
	    (t->ssl = p_SSL_new(t->ctx)) == NULL ||
	    (t->in = p_BIO_new(p_BIO_s_mem())) == NULL)
		goto out;
	if ((t->out = p_BIO_new(p_BIO_s_mem())) == NULL) {
		p_BIO_free(t->in);
		goto out;
	}
	p_SSL_set_bio(t->ssl, t->in, t->out);
	if (set_peer(t->ssl, host) == 1)
		return 0;
out:
	return fault_set(fault, FAULT_SYSTEM, 0, "TLS: %s", reason());
}

struct tls *
tls_new(const struct tls_options *o, const char *host, struct fault *fault)
{
	struct tls *t;

	if (load(fault) == -1)
		return NULL;
	if ((t = calloc(1, sizeof(*t))) == NULL) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		return NULL;
	}
	t->first = -1;
	if (set_up(t, o, host, fault) == 0)
		return t;
	tls_free(t);
	return NULL;
}

void
tls_free(struct tls *t)
{
	if (t == NULL)
		return;
	if (t->ssl != NULL)
		p_SSL_free(t->ssl);
	if (t->ctx != NULL)
		p_SSL_CTX_free(t->ctx);
	free(t);
}

int
tls_feed(struct tls *t, const void *data, size_t len)
{
	if (len == 0)
		return 0;
	if (t->first == -1)
		t->first = *(const unsigned char *)data;
	return len <= INT_MAX &&
		p_BIO_write(t->in, data, (int)len) == (int)len ?
	    0 :
	    -1;
}

size_t
tls_pending(const struct tls *t)
{
	return p_BIO_ctrl_pending(t->out);
}

size_t
tls_take(struct tls *t, void *out, size_t cap)
{
	int n = p_BIO_read(t->out, out, cap > INT_MAX ? INT_MAX : (int)cap);

	return n > 0 ? (size_t)n : 0;
}

/* Word what has gone wrong; -1. */
static int
failed(const struct tls *t, struct fault *fault)
{
	long verdict = p_SSL_get_verify_result(t->ssl);
	const char *hint = "";

	if (t->first != -1 && t->first != RECORD_HANDSHAKE &&
	    t->first != RECORD_ALERT)
		return fault_set(fault, FAULT_UNAVAILABLE, 0,
		    "the server does not speak TLS on this port (redis:// or "
		    "sentinel:// without the s?)");
	if (verdict == X509_OK)
		return fault_set(fault, FAULT_UNAVAILABLE, 0, "TLS: %s",
		    reason());
	if (verdict == X509_WRONG_HOST || verdict == X509_WRONG_IP)
		hint = " (it is for another server, or the URL names it "
		       "otherwise)";
	else if (verdict == X509_NO_ISSUER || verdict == X509_NO_ISSUER_HERE ||
	    verdict == X509_SELF_SIGNED || verdict == X509_SELF_SIGNED_CHAIN)
		hint = " (--tls-cacert FILE says whom to trust)";
	return fault_set(fault, FAULT_UNAVAILABLE, 0,
	    "TLS: the server's certificate is not to be trusted: %s%s",
	    p_X509_verify_cert_error_string(verdict), hint);
}

int
tls_handshake(struct tls *t, struct fault *fault)
{
	int n;

	p_ERR_clear_error();
	if ((n = p_SSL_connect(t->ssl)) == 1)
		return 1;
	if (p_SSL_get_error(t->ssl, n) == ERROR_WANT_READ)
		return 0;
	return failed(t, fault);
}

static ssize_t
result(const struct tls *t, int n, struct fault *fault)
{
	if (n > 0)
		return n;
	switch (p_SSL_get_error(t->ssl, n)) {
	case ERROR_WANT_READ:
		errno = EAGAIN;
		return -1;
	case ERROR_ZERO_RETURN:
		return 0;
	}
	failed(t, fault);
	errno = EPROTO;
	return -1;
}

ssize_t
tls_write(struct tls *t, const void *data, size_t len, struct fault *fault)
{
	p_ERR_clear_error();
	return result(t,
	    p_SSL_write(t->ssl, data, len > INT_MAX ? INT_MAX : (int)len),
	    fault);
}

ssize_t
tls_read(struct tls *t, void *out, size_t cap, struct fault *fault)
{
	p_ERR_clear_error();
	return result(t,
	    p_SSL_read(t->ssl, out, cap > INT_MAX ? INT_MAX : (int)cap), fault);
}
