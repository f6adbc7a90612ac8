/* SPDX-License-Identifier: MIT */
/*
 * tls_api: the functions of OpenSSL (1.1.1, 3.x) that tls.c looks up in the
 * library when it is loaded, so that no header of it is needed to build.
 * The struct tags are OpenSSL's own: where its headers are at hand,
 * tests/unit/test_tls_api.c compiles each line against them.
 */
#ifndef RLOCK_TLS_API_H
#define RLOCK_TLS_API_H

struct ssl_st;
struct ssl_ctx_st;
struct ssl_method_st;
struct bio_st;
struct bio_method_st;
struct x509_store_ctx_st;
struct X509_VERIFY_PARAM_st;

/* X(returns, name, (arguments)) */
#define TLS_API(X) \
	X(const struct ssl_method_st *, TLS_client_method, (void)) \
	X(struct ssl_ctx_st *, SSL_CTX_new, (const struct ssl_method_st *)) \
	X(void, SSL_CTX_free, (struct ssl_ctx_st *)) \
	X(long, SSL_CTX_ctrl, (struct ssl_ctx_st *, int, long, void *)) \
	X(void, SSL_CTX_set_verify, (struct ssl_ctx_st *, int, \
	    int (*)(int, struct x509_store_ctx_st *))) \
	X(int, SSL_CTX_set_default_verify_paths, (struct ssl_ctx_st *)) \
	X(int, SSL_CTX_load_verify_locations, (struct ssl_ctx_st *, \
	    const char *, const char *)) \
	X(int, SSL_CTX_use_certificate_chain_file, (struct ssl_ctx_st *, \
	    const char *)) \
	X(int, SSL_CTX_use_PrivateKey_file, (struct ssl_ctx_st *, \
	    const char *, int)) \
	X(int, SSL_CTX_check_private_key, (const struct ssl_ctx_st *)) \
	X(struct ssl_st *, SSL_new, (struct ssl_ctx_st *)) \
	X(void, SSL_free, (struct ssl_st *)) \
	X(long, SSL_ctrl, (struct ssl_st *, int, long, void *)) \
	X(void, SSL_set_bio, (struct ssl_st *, struct bio_st *, \
	    struct bio_st *)) \
	X(struct X509_VERIFY_PARAM_st *, SSL_get0_param, (struct ssl_st *)) \
	X(int, SSL_connect, (struct ssl_st *)) \
	X(int, SSL_read, (struct ssl_st *, void *, int)) \
	X(int, SSL_write, (struct ssl_st *, const void *, int)) \
	X(int, SSL_get_error, (const struct ssl_st *, int)) \
	X(long, SSL_get_verify_result, (const struct ssl_st *)) \
	X(int, X509_VERIFY_PARAM_set1_host, (struct X509_VERIFY_PARAM_st *, \
	    const char *, size_t)) \
	X(int, X509_VERIFY_PARAM_set1_ip_asc, (struct X509_VERIFY_PARAM_st *, \
	    const char *)) \
	X(void, X509_VERIFY_PARAM_set_hostflags, \
	    (struct X509_VERIFY_PARAM_st *, unsigned int)) \
	X(const char *, X509_verify_cert_error_string, (long)) \
	X(const struct bio_method_st *, BIO_s_mem, (void)) \
	X(struct bio_st *, BIO_new, (const struct bio_method_st *)) \
	X(int, BIO_free, (struct bio_st *)) \
	X(int, BIO_read, (struct bio_st *, void *, int)) \
	X(int, BIO_write, (struct bio_st *, const void *, int)) \
	X(size_t, BIO_ctrl_pending, (struct bio_st *)) \
	X(void, ERR_clear_error, (void)) \
	X(unsigned long, ERR_peek_last_error, (void)) \
	X(const char *, ERR_reason_error_string, (unsigned long))

#endif
