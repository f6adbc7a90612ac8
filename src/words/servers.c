/* SPDX-License-Identifier: MIT */
/*
 * servers: see servers.h.
 */
#include "words/servers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define URL_DEFAULT "redis://127.0.0.1:6379"
#define PASSWORD_LEN_MAX 4096

static int
usage(struct fault *fault, const char *text)
{
	return fault_set(fault, FAULT_USAGE, 0, "%s", text);
}

/* Up to cap bytes, stopping behind the first LF; -1 and errno. */
static ssize_t
read_line(const char *path, char *out, size_t cap)
{
	bool whole = false;
	size_t len = 0;
	ssize_t n = 0;
	int fd, saved;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)) == -1)
		return -1;
	while (len < cap && !whole) {
		n = read(fd, out + len, cap - len);
		if (n == 0 || (n == -1 && errno != EINTR))
			break;
		if (n > 0) {
			whole = memchr(out + len, '\n', (size_t)n) != NULL;
			len += (size_t)n;
		}
	}
	saved = errno;
	close(fd);
	errno = saved;
	return n == -1 ? -1 : (ssize_t)len;
}

/* The password that text[len], the beginning of a file, holds, or NULL. */
static char *
first_line(char *text, size_t len, const char **why)
{
	char *end = memchr(text, '\n', len), *password;

	if (end != NULL) {
		len = (size_t)(end - text);
		if (len > 0 && text[len - 1] == '\r')
			len--;
	}
	*why = NULL;
	if (len == 0)
		*why = "its first line is empty";
	else if (len > PASSWORD_LEN_MAX)
		*why = "its first line is longer than 4096 bytes";
	else if (memchr(text, '\0', len) != NULL)
		*why = "its first line holds a NUL byte";
	if (*why != NULL)
		return NULL;
	if ((password = strndup(text, len)) == NULL)
		*why = "out of memory";
	return password;
}

static int
read_password(const char *path, char **password, struct fault *fault)
{
	char text[PASSWORD_LEN_MAX + 2]; /* with a CRLF */
	const char *why;
	ssize_t len;
	int error = 0;

	if ((len = read_line(path, text, sizeof(text))) == -1)
		return fault_set(fault, FAULT_USAGE, errno,
		    "option --password-file: '%.200s'", path);
	*password = first_line(text, (size_t)len, &why);
	if (*password == NULL)
		error = fault_set(fault, FAULT_USAGE, 0,
		    "option --password-file: '%.200s': %s", path, why);
	explicit_bzero(text, sizeof(text));
	return error;
}

bool
servers_use_tls(const struct config *cfg)
{
	bool tls = false;
	int i;

	for (i = 0; i < cfg->servers; i++)
		tls = tls || config_server(cfg, i)->tls;
	return tls;
}

static int
check_tls(const struct config *cfg, struct fault *fault)
{
	if ((cfg->tls.cert == NULL) != (cfg->tls.key == NULL))
		return usage(fault,
		    "--tls-cert and --tls-key go together: a certificate is of "
		    "no use without its key");
	if (!servers_use_tls(cfg) &&
	    (cfg->tls.cacert != NULL || cfg->tls.cert != NULL ||
		cfg->tls.insecure))
		return fault_set(fault, FAULT_USAGE, 0,
		    "a --tls- option has no meaning with %s (rediss:// and "
		    "sentinels:// are TLS)",
		    cfg->endpoint.shown);
	return 0;
}

/* A user who has no password: only one given makes AUTH name the user. */
static int
complete_user(const char *user, char **password, struct fault *fault)
{
	if (user == NULL || *password != NULL)
		return 0;
	if ((*password = strdup("")) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	return 0;
}

static int
complete_endpoint(const struct config *cfg, struct endpoint *ep,
    struct fault *fault)
{
	char *password;

	if (cfg->password_file != NULL) {
		if (read_password(cfg->password_file, &password, fault) == -1)
			return -1;
		free(ep->password);
		ep->password = password;
	}
	if (ep->password == NULL && cfg->env_password != NULL &&
	    (ep->password = strdup(cfg->env_password)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	if (complete_user(ep->user, &ep->password, fault) == -1)
		return -1;
	return complete_user(ep->sentinel_user, &ep->sentinel_password, fault);
}

/* What has no meaning over servers that know nothing of one another. */
static int
check_quorum(const struct config *cfg, struct fault *fault)
{
	const char *what = NULL;
	int i, k;

	if (cfg->servers < 2)
		return 0;
	if (cfg->slots != 0)
		what = cfg->slots < 0 ? "-s" : "-j";
	else if (cfg->fence)
		what = "--fence";
	else if (cfg->replicas > 0 && cfg->verb != VERB_DOCTOR)
		what = "--replicas";
	else if (cfg->once_ms > 0)
		what = "--once";
	else if (cfg->verb == VERB_LIST)
		what = "--list";
	if (what != NULL)
		return fault_set(fault, FAULT_USAGE, 0,
		    "%s has no meaning with several servers: they know nothing "
		    "of one another, and only a lock of one holder can be had "
		    "from a majority (give one URL)",
		    what);
	for (i = 0; i < cfg->servers; i++) {
		if (endpoint_is_serverless(config_server(cfg, i)))
			return usage(fault,
			    "local: can't be one of several servers: it is "
			    "this host alone");
		for (k = 0; k < i; k++)
			if (strcmp(config_server(cfg, i)->shown,
				config_server(cfg, k)->shown) == 0)
				return fault_set(fault, FAULT_USAGE, 0,
				    "%s is given twice (a quorum is of "
				    "independent servers)",
				    config_server(cfg, i)->shown);
	}
	return 0;
}

/* What takes a server. */
static int
check_local(const struct config *cfg, struct fault *fault)
{
	if (cfg->fence &&
	    (cfg->on_unreachable == UNREACHABLE_RUN ||
		cfg->on_unreachable == UNREACHABLE_LOCAL))
		return usage(fault,
		    "--fence and --on-unreachable run or local can't be given "
		    "together: without the server there is no number");
	if (cfg->endpoint.kind != ENDPOINT_LOCAL)
		return 0;
	if (cfg->verb != VERB_RUN && cfg->verb != VERB_STATUS &&
	    cfg->verb != VERB_LIST)
		return usage(fault,
		    "local: is for commands, --status and --list: a lock of "
		    "this host ends with the process that holds it, and there "
		    "is no server");
	if (cfg->fence)
		return usage(fault,
		    "--fence has no meaning with local: (its files, and the "
		    "number with them, may be gone after a boot)");
	if (cfg->replicas > 0)
		return usage(fault,
		    "--replicas has no meaning with local: (there is no "
		    "server)");
	if (cfg->password_file != NULL)
		return usage(fault,
		    "--password-file has no meaning with local: (there is no "
		    "server)");
	return 0;
}

int
servers_complete(struct config *cfg, struct fault *fault)
{
	int i;

	if (cfg->servers == 0 &&
	    endpoint_parse(URL_DEFAULT, config_add_server(cfg), fault) == -1)
		return -1;
	for (i = 0; i < cfg->servers; i++)
		if (complete_endpoint(cfg,
			i == 0 ? &cfg->endpoint : &cfg->others[i - 1],
			fault) == -1)
			return -1;
	if (cfg->servers == 1)
		snprintf(cfg->shown, sizeof(cfg->shown), "%s",
		    cfg->endpoint.shown);
	else
		snprintf(cfg->shown, sizeof(cfg->shown), "the %d servers",
		    cfg->servers);
	if (check_tls(cfg, fault) == -1 || check_quorum(cfg, fault) == -1)
		return -1;
	return check_local(cfg, fault);
}
