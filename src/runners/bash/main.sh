# The bash runner: one long-lived shell, and a process that speaks to the agent for it.
#
#     bash --norc --noprofile -p main.sh FD
#
# This bash becomes that process (supervisor.c), which starts the shell whose state is kept (shell.c). It
# runs with -p so that BASH_ENV and exported functions are left to the shell.
if [[ $# -ne 1 || $1 == *[!0-9]* ]]; then
    echo "usage: main.sh FD" >&2
    exit 2
fi
enable -f "${BASH_SOURCE[0]%/*}/host.so" stepbox_supervisor || exit
stepbox_supervisor "$1" "$BASH" "${BASH_SOURCE[0]%/*}/host.so"
