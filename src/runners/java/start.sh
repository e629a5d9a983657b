#!/bin/sh
# Starts the Java runner: start.sh FD
#
# The runner was compiled when stepbox was built, where there was a JDK; elsewhere its source is compiled now, in
# the same virtual machine.
folder=$(dirname "$0")
java=/usr/bin/java
[ -x "$java" ] || java=java

# Java sizes its heap by the machine's memory or the control group's, of which a sandbox shows neither as it is. What
# bounds the runner is the limit of its data, of which the heap may take five eighths: classes, compiled code and
# stacks are data too.
data=$(ulimit -S -d)
case $data in
    unlimited | '') heap= ;;
    *) heap=-Xmx$((data / 8 * 5))k ;;
esac

if [ -r "$folder/runner.jar" ]; then
    set -- -cp "$folder/runner.jar" stepbox.runner.Main "$folder" "$1"
else
    set -- "$folder/FromSource.java" "$folder" "$1"
fi

# Compiling with the first compiler alone and collecting with one thread halve the processor time of a start, and a
# small heap to begin with the memory. No file of counters is left in /tmp, and other processes cannot attach
# themselves. Texts are UTF-8, whatever the locale is.
exec "$java" -Xms32m $heap -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto \
    -XX:-UsePerfData -XX:+DisableAttachMechanism \
    -Dfile.encoding=UTF-8 -Dsun.jnu.encoding=UTF-8 -Djava.awt.headless=true \
    --add-opens java.base/java.io=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED \
    --add-opens java.base/java.util=ALL-UNNAMED --add-opens jdk.jshell/jdk.jshell=ALL-UNNAMED \
    --add-modules jdk.jshell --enable-native-access=ALL-UNNAMED "$@"
