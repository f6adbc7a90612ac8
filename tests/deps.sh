#!/bin/sh
# deps.sh: install what building, testing and linting need, by the system's
# package manager; print what is run.  Does nothing when all is there.
#
# Some systems start a Redis service when its package is installed.  Nothing
# here needs that service or talks to it.
set -eu

has() { command -v "$1" >/dev/null 2>&1; }

run() {
	echo "+ $*"
	"$@"
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		run "$@"
	elif has sudo; then
		run sudo "$@"
	else
		echo "deps: needs root, and there is no sudo; run: $*" >&2
		exit 77
	fi
}

if has apt-get; then system=apt
elif has dnf; then system=dnf
elif has apk; then system=apk
elif has pacman; then system=pacman
elif has brew; then system=brew
else
	echo "deps: no package manager known (apt, dnf, apk, pacman, brew)" >&2
	echo "deps: see tests/deps.sh for what is needed" >&2
	exit 69
fi

# What is needed: a command that shows that it is there (a/b: either), and the
# packages by system (-: none).  hiredis is looked for by its header, redis-py
# and prometheus-client, libraries of another language, by their modules, below.
table() {
	cat <<-'EOF'
	command                    apt             dnf                   apk               pacman      brew
	gcc                        gcc,libc6-dev   gcc                   gcc,musl-dev      gcc         gcc
	make                       make            make                  make              make        make
	pkg-config                 pkg-config      pkgconf-pkg-config    pkgconf           pkgconf     pkg-config
	hiredis.h                  libhiredis-dev  hiredis-devel         hiredis-dev       hiredis     hiredis
	redis-server/valkey-server redis-server    valkey                valkey            valkey      redis
	redis-cli/valkey-cli       redis-tools     valkey                valkey-cli        valkey      redis
	bash                       bash            bash                  bash              bash        bash
	bats                       bats            bats                  bats              bats        bats-core
	prove                      perl            perl-Test-Harness     perl-utils        perl        perl
	python3                    python3         python3               python3           python      python
	openssl                    openssl         openssl               openssl           openssl     openssl
	redis-py                   python3-redis   python3-redis         py3-redis         python-redis -
	prometheus-client          python3-prometheus-client python3-prometheus_client py3-prometheus-client python-prometheus_client -
	git                        git             git                   git               git         git
	setpriv                    util-linux      util-linux            setpriv           util-linux  util-linux
	ps                         procps          procps-ng             procps            procps-ng   procps
	strace                     strace          strace                strace            strace      strace
	valgrind                   valgrind        valgrind              valgrind          valgrind    valgrind
	clang                      clang           clang                 clang             clang       llvm
	clang-tidy                 clang-tidy      clang-tools-extra     clang-extra-tools clang       llvm
	cppcheck                   cppcheck        cppcheck              cppcheck          cppcheck    cppcheck
	shellcheck                 shellcheck      ShellCheck            shellcheck        shellcheck  shellcheck
	mandoc                     mandoc          mandoc                mandoc            mandoc      mandoc
	luac5.1/luac               lua5.1          lua                   lua5.1            lua51       lua
	zsh                        zsh             zsh                   zsh               zsh         zsh
	fish                       fish            fish                  fish              fish        fish
	EOF
}

is_there() {
	case $1 in
	hiredis.h)
		pkg-config --exists hiredis 2>/dev/null ||
		    [ -e /usr/include/hiredis/hiredis.h ] ||
		    [ -e /usr/local/include/hiredis/hiredis.h ]
		;;
	redis-py)
		python3 -c 'import redis' 2>/dev/null ||
		    /usr/bin/python3 -c 'import redis' 2>/dev/null
		;;
	prometheus-client)
		python3 -c 'import prometheus_client' 2>/dev/null ||
		    /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null
		;;
	prove) has prove || [ -x /usr/bin/core_perl/prove ] ;;
	*/*) has "${1%/*}" || has "${1#*/}" ;;
	*) has "$1" ;;
	esac
}

missing() {
	table | awk -v which="$system" '
		NR == 1 { for (i = 2; i <= NF; i++) if ($i == which) column = i; next }
		{ gsub(/,/, " ", $column); print $1, $column }' |
	while read -r command packages; do
		[ "$packages" = - ] || is_there "$command" || echo "$packages"
	done
}

# clang-format matters in version 14 alone, where the system has it.
format_package() {
	if [ "$system" = apt ] && ! has clang-format && ! has clang-format-14 &&
	    apt-cache policy clang-format 2>/dev/null | grep -q 'Candidate: 1:14\.'; then
		echo clang-format
	fi
}

# make model needs spin, which not every system has a package of.
spin_package() {
	if [ "$system" = apt ] && ! has spin &&
	    apt-cache policy spin 2>/dev/null | grep -q 'Candidate: [0-9]'; then
		echo spin
	fi
}

# promtool comes with a server that would be started, but for newer systems: it
# is taken out of the package, which is not installed.
promtool=build/tools/promtool
needs_promtool() {
	[ "$system" = apt ] && ! has promtool && [ ! -x "$promtool" ]
}

unpack_promtool() {
	package=prometheus
	! apt-cache policy promtool 2>/dev/null | grep -q 'Candidate: [0-9]' ||
	    package=promtool
	folder=$(mktemp -d)
	chmod 755 "$folder" # apt fetches as a user of its own
	(cd "$folder" && run apt-get download -q "$package") &&
	    run dpkg-deb -x "$folder/$package"_*.deb "$folder" &&
	    mkdir -p "${promtool%/*}" &&
	    mv "$folder/usr/bin/promtool" "$promtool"
	status=$?
	rm -rf "$folder"
	return "$status"
}

lists_there() {
	for list in /var/lib/apt/lists/*Packages*; do
		[ -e "$list" ] && return 0
	done
	return 1
}

install_apt() {
	as_root env DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -q --no-install-recommends "$@"
}

packages=$(missing)
if [ -z "$packages$(format_package)$(spin_package)" ] && ! needs_promtool; then
	echo "deps: all is there"
	exit 0
fi

# The words of $packages are package names.
# shellcheck disable=SC2046,SC2086
case $system in
apt)
	lists_there || as_root apt-get update -q
	wanted="$packages $(format_package) $(spin_package)"
	[ -z "${wanted# *}" ] || install_apt $wanted || {
		as_root apt-get update -q # the lists were old, perhaps
		install_apt $wanted
	}
	! needs_promtool || unpack_promtool
	;;
dnf) as_root dnf install -y $packages ;;
apk) as_root apk add $packages ;;
pacman) as_root pacman -S --needed --noconfirm $packages ;;
brew) run brew install $packages ;;
esac

left=$(missing)
if [ -n "$left" ]; then
	echo "deps: still missing after that: $left" >&2
	exit 69
fi
