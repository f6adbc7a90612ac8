#!/usr/bin/env python3
"""scripts.py CC BUILD: are the embedded Lua scripts those of src/lua?

An independent way to BUILD/script_data.c: the linked bytes are read back by a
small C program and compared with the files as Lua sees them, token by token.
Also: each embedded script has no comment, no empty line and no indent, compiles,
and sets no global (Redis refuses that).
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOKEN = re.compile(
    rb"""(?P<skip>\s+|--[^\n]*)
       |(?P<token>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'
         |[A-Za-z_]\w*|0[xX][0-9A-Fa-f]+|\d+\.?\d*(?:[eE][+-]?\d+)?
         |\.\.\.|\.\.|[=~<>]=|[^\s])""",
    re.X | re.S,
)


def tokens(text):
    """The tokens of a Lua text; comments and blanks left out."""
    return [m.group("token") for m in TOKEN.finditer(text) if m.group("token")]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def embedded(compiler, build, names, folder):
    """{name: bytes} of what the object file holds."""
    source = os.path.join(folder, "dump.c")
    program = os.path.join(folder, "dump")
    with open(source, "w", encoding="ascii") as file:
        file.write("#include <stdio.h>\n#include <string.h>\n")
        for name in names:
            file.write(f"extern const char script_{name}[];\n")
        file.write("int main(void)\n{\n")
        for name in names:
            file.write(
                f'printf("{name} %zu\\n%s", '
                f"strlen(script_{name}), script_{name});\n"
            )
        file.write("return 0;\n}\n")
    subprocess.run(
        [compiler, "-Isrc", "-o", program, source, f"{build}/script_data.c"],
        check=True,
    )
    data = subprocess.run([program], check=True, stdout=subprocess.PIPE).stdout
    found = {}
    while data:
        head, data = data.split(b"\n", 1)
        name, length = head.decode().split()
        found[name] = data[: int(length)]
        data = data[int(length) :]
    return found


def check(name, text, got, luac):
    """The complaints about one script."""
    bad = []
    if tokens(text) != tokens(got):
        bad.append("the embedded script is not the file")
    for line in got.split(b"\n")[:-1]:
        if not line or line != line.strip() or line.startswith(b"--"):
            bad.append(f"not stripped: {line!r}")
    for what, source in (("file", text), ("embedded", got)):
        run = subprocess.run(
            [luac, "-l", "-p", "-"],
            input=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
        if run.returncode:
            bad.append(f"{what}: {run.stderr.decode(errors='replace').strip()}")
        elif b"SETGLOBAL" in run.stdout:
            bad.append(f"{what}: sets a global, which Redis refuses")
    return [f"src/lua/{name}.lua: {line}" for line in bad]


def main():
    compiler, build = sys.argv[1:3]
    luac = shutil.which("luac5.1") or shutil.which("luac")
    files = sorted(glob.glob("src/lua/*.lua"))
    texts = {os.path.basename(f)[:-4]: read(f) for f in files}
    prelude = texts.pop("prelude", b"")
    if not texts:
        return 0
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        found = embedded(compiler, build, list(texts), folder)
    for name, text in texts.items():
        opening = re.match(rb"(?:--[^\n]*\n)*", text).group()
        if b"prelude:yes" in opening:
            text = prelude + b"\n" + text
        bad += check(name, text, found[name], luac)
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


sys.exit(main())
