#!/bin/sh
# A network for tests, of namespaces and a veth pair, with nothing real in it: runs a command on a
# "host" whose only way out leads to a "world" with servers on public-looking, private and metadata
# addresses. For root, as
#
#   unshare --net --mount world.sh DIRECTORY USER COMMAND ARGS...
#
# WORLD_HIDES in the environment are programs that are not there, WORLD_TUN_MODE who may open /dev/net/tun when the
# user is not root; with WORLD_LINKS /etc/resolv.conf is a link, to DIRECTORY/names/resolv.conf. DIRECTORY gets
# dns.log, socks.log and udp.log. The command runs as the user with this number.
set -eu

here=$(dirname "$(readlink -f "$0")")
directory=$1
user=$2
shift 2

# What is started here ends with this shell, however it ends.
unshare --net setpriv --pdeathsig KILL sleep infinity &
world=$!
command=
trap '[ -z "$command" ] || kill $command 2>/dev/null || true' TERM INT HUP
in_world() { nsenter --net="/proc/$world/ns/net" "$@"; }
until [ "$(readlink /proc/$world/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done

ip link set lo up
ip link add up0 type veth peer name world0 netns "$world"
ip addr add 203.0.113.2/24 dev up0
ip addr add 2001:db8:1::2/64 dev up0 nodad
ip link set up0 up
in_world ip link set lo up
in_world ip addr add 203.0.113.1/24 dev world0
in_world ip addr add 2001:db8:1::1/64 dev world0 nodad
in_world ip link set world0 up
for address in 198.51.100.7/32 198.51.100.8/32 198.51.100.53/32 10.9.9.9/32 172.16.5.5/32 \
    192.168.77.7/32 100.64.3.3/32 169.254.169.254/32 168.63.129.16/32 198.18.0.1/32 \
    100.100.100.200/32 192.0.0.192/32; do
    in_world ip addr add $address dev lo
done
for address in 2001:db8:2::7/128 2001:db8:2::8/128 fd00:ec2::254/128 fd12:3456::7/128 \
    64:ff9b::a09:909/128 2002:a09:909::1/128 fd20:ce::254/128 ::10.9.9.9/128 ::ffff:0:a09:909/128 \
    64:ff9b:1::a09:909/128 64:ff9b::a9fe:a9fe/128 2001:0:a09:909::1/128 fec0::7/128; do
    in_world ip -6 addr add $address dev lo nodad
done
ip route add default via 203.0.113.1
ip -6 route add default via 2001:db8:1::1

# The host's resolver is the world's.
mount --make-rprivate /
echo "nameserver 198.51.100.53" > "$directory/resolv.conf"
if [ -n "${WORLD_LINKS:-}" ]; then
    cp -a /etc "$directory/etc"
    mkdir "$directory/names"
    cp "$directory/resolv.conf" "$directory/names/resolv.conf"
    ln -sf "$directory/names/resolv.conf" "$directory/etc/resolv.conf"
    mount --bind "$directory/etc" /etc
else
    mount --bind "$directory/resolv.conf" /etc/resolv.conf
fi

setpriv --pdeathsig KILL nsenter --net="/proc/$world/ns/net" python3 "$here/servers.py" world "$directory" &
servers=$!
setpriv --pdeathsig KILL python3 "$here/servers.py" host "$directory" &
servers="$servers $!"
until [ -e "$directory/world.ready" ] && [ -e "$directory/host.ready" ]; do sleep 0.02; done

# As if they were not installed.
for program in ${WORLD_HIDES:-}; do mount --bind /dev/null "$program"; done

# Hosts let users have links, even where this one does not.
if [ "$user" != 0 ]; then
    mount -t tmpfs tmpfs /dev/net
    mknod -m "${WORLD_TUN_MODE:-666}" /dev/net/tun c 10 200
fi
setpriv --reuid "$user" --regid "$user" --clear-groups -- "$@" &
command=$!
status=0
wait "$command" || status=$?
# A signal has interrupted that.
while kill -0 "$command" 2>/dev/null; do wait "$command" || status=$?; done
kill $servers "$world" 2>/dev/null || true
wait
exit "$status"
