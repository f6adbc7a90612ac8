/* SPDX-License-Identifier: MIT */
/*
 * tls_api: what we say of OpenSSL's functions and numbers is what its headers
 * say, where they are at hand: the compiler tells.
 */
#include "check.h"

#if defined(__has_include)
#if __has_include(<openssl/ssl.h>)
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "redis/tls_api.h"
#include "redis/tls_numbers.h"

/* Not evaluated, so the library need not be linked. */
#define SAME(returns, name, arguments) \
	_Static_assert(_Generic(&name, returns(*) arguments : 1, default : 0), \
	    #name);
TLS_API(SAME)

#define NUMBER_IS(ours, theirs, number) \
	_Static_assert((theirs) == (number), #theirs);
TLS_NUMBERS(NUMBER_IS)

#define HAVE_HEADERS
#endif
#endif

static void
as_in_the_headers(void)
{
#ifdef HAVE_HEADERS
	printf("# checked when this was compiled\n");
#else
	printf("# no headers of OpenSSL here\n");
#endif
	CHECK(true);
}

int
main(void)
{
	CHECK_RUN(as_in_the_headers);
	return check_done();
}
