#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A remote shell without a network: remote_shell.py [OPTION...] HOST WORD...

As sshd does, it joins the words by blanks and passes them to a shell in a session of its own. The shell's streams are
pipes, which end with this process, the connection. SIGHUP, SIGINT, SIGTERM and SIGQUIT end it with status 255, as they
end ssh. It refuses the host `refused`, as for a wrong key. `unknown` is not a host. The login shell of `noisy` prints
something. $REMOTE_SHELL_LOG gets the arguments of each call.
"""
import os
import signal
import subprocess
import sys
import threading


def words_after_options(words):
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-o", "-p", "-l", "-L", "-R") else 1:]
    return words


def pass_on(source, to):
    while chunk := os.read(source, 65536):
        try:
            while chunk:
                chunk = chunk[os.write(to, chunk):]
        except BrokenPipeError:  # the other side of ssh reports it
            os.close(source)
            break
    os.close(to)


def main():
    host, *command = words_after_options(sys.argv[1:])
    if log := os.environ.get("REMOTE_SHELL_LOG"):
        with open(log, "a", encoding="utf-8") as file:
            print(os.getpid(), *sys.argv[1:], file=file)
    if host in ("refused", "unknown"):
        why = {"refused": "Permission denied (publickey).", "unknown": "Could not resolve hostname unknown"}[host]
        print(why, file=sys.stderr)
        return 255
    for name in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(name, lambda *_: os._exit(255))
    if host == "noisy":
        os.write(1, b"welcome\n")
    # The user's variables there are not those of the launcher.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SUKIMA_")}
    with subprocess.Popen(["sh", "-c", " ".join(command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True, env=environment, cwd="/") as there:
        threading.Thread(target=pass_on, args=(0, os.dup(there.stdin.fileno())), daemon=True).start()
        there.stdin.close()
        outputs = [threading.Thread(target=pass_on, args=(source.fileno(), to))
                   for source, to in ((there.stdout, 1), (there.stderr, 2))]
        for output in outputs:
            output.start()
        for output in outputs:
            output.join()
        status = there.wait()
    return status if status >= 0 else 255


if __name__ == "__main__":
    code = main()
    os._exit(code)
