# Runs on a server's host, sent by ssh ahead of everything else: tells what is there, finds what is to be
# observed, takes the observer in where the host has none, and becomes it.
#
# Knows the host's own tools; must not know what is measured. It speaks in lines that begin with
# `wiretrial: ` and ends each part with a line that asks for the next one, before which nothing is sent:
# so no tool here can read too far. The observer's file has lost its name before its first byte comes, so
# nothing of it stays, whenever the connection is cut. All of it is POSIX shell.

LC_ALL=C
export LC_ALL

tell() { printf 'wiretrial: %s\n' "$*"; }
refuse() {
  tell "refused $*"
  exit 3
}
last_line() { printf '%s\n' "$1" | sed -n '/[^[:space:]]/h; ${g; p;}' | cut -c 1-300; }
has() { command -v "$1" >/dev/null 2>&1; }

# The control group of a container, by its id and a process of it: podman puts the processes into a group
# within that.
group_of() {
  sed -n "s|^[^:]*:[^:]*:\(.*$1[^/]*\).*|\1|p" "/proc/$2/cgroup" 2>/dev/null | head -n 1
}
is_group() {
  for top in /sys/fs/cgroup /sys/fs/cgroup/*; do
    [ -d "$top$1" ] && return 0
  done
  return 1
}

# Tells the group where it can be read here, else the process, with all that descend from it.
found() {
  if [ -n "$1" ] && [ "$1" != / ] && is_group "$1"; then
    tell "cgroup $1"
  elif [ "${2:-0}" -gt 0 ] 2>/dev/null; then
    tell "pid $2"
  else
    return 1
  fi
}

find_process() {
  [ -d "/proc/$1" ] || refuse "pid there is no process $1"
  found "" "$1"
}

property() { printf '%s\n' "$shown" | sed -n "s/^$1=//p"; }
find_unit() {
  has systemctl || refuse "tool systemctl"
  said=
  for whose in --system --user; do
    shown=$(systemctl "$whose" show -p LoadState -p ControlGroup -p MainPID -- "$1" 2>&1 </dev/null) || {
      said=${said:-$(last_line "$shown")}
      continue
    }
    found "$(property ControlGroup)" "$(property MainPID)" && return
    case $(property LoadState) in
    not-found) ;;
    *) refuse "unit the unit $1 is not running" ;;
    esac
  done
  refuse "unit there is no unit $1${said:+ ($said)}"
}

find_container() {
  said=
  any=
  for tool in docker podman; do
    has "$tool" || continue
    any=yes
    if shown=$("$tool" container inspect --format "{{.Id}} {{.State.Pid}}" "$1" 2>&1 </dev/null); then
      shown=$(last_line "$shown")
      id=${shown%% *} pid=${shown##* }
      found "$(group_of "$id" "$pid")" "$pid" && return
      refuse "container the container $1 is not running"
    fi
    said="${said:+$said; }$tool: $(last_line "$shown")"
  done
  [ -n "$any" ] || refuse "tool docker or podman"
  refuse "container there is no container $1 ($said)"
}

# Opens an empty file as 8 to write and 9 to read, and takes its name away. The folder must let programs
# run, and have room for so many KiB.
file=
tried=
place() {
  for folder in /dev/shm "${XDG_RUNTIME_DIR:-/nowhere}" /tmp; do
    [ -d "$folder" ] && [ -w "$folder" ] || continue
    free=$(df -Pk "$folder" 2>/dev/null | awk 'NR == 2 { print $4 }')
    if [ "${free:-$1}" -lt "$1" ]; then
      tried="$tried $folder is full;"
      continue
    fi
    file=$(mktemp "$folder/wiretrial.XXXXXXXX" 2>/dev/null) || continue
    if chmod 700 "$file" && printf '#!/bin/sh\n' >"$file" && "$file" </dev/null 2>/dev/null; then
      exec 8>"$file" 9<"$file"
      rm -f "$file"
      return 0
    fi
    rm -f "$file"
    tried="$tried $folder lets no program run;"
  done
  return 1
}

# Takes in so many bytes, of which the program has so many KiB, and compares what came.
take() {
  trap '[ -z "$file" ] || rm -f "$file"' EXIT
  trap 'exit 3' HUP INT TERM
  place "$2" || refuse "place${tried:- no folder for it may be written to;}"
  trap - EXIT HUP INT TERM
  tell "send"
  if [ "$4" = gzip ]; then
    head -c "$1" | gzip -dc >&8 || refuse "damaged"
  else
    head -c "$1" >&8
    [ "$(wc -c </proc/self/fd/9)" -eq "$1" ] || refuse "damaged"
  fi
  exec 8>&-
  if has sha256sum; then
    came=$(sha256sum </proc/self/fd/9 | cut -d ' ' -f 1)
    [ "$came" = "$3" ] || refuse "damaged"
  fi
  ran=$(/proc/self/fd/9 --version 2>&1 </dev/null) || refuse "start $(last_line "$ran")"
}

tell "system $(uname -s)"
tell "machine $(uname -m)"
has gzip && tell "gzip yes"
tell "engine $(wiretrial-engine --version 2>/dev/null </dev/null | head -n 1)"
tell "ask"

while IFS=' ' read -r kind name && [ -n "$kind" ]; do
  case $kind in
  pid) find_process "$name" ;;
  unit) find_unit "$name" ;;
  container) find_container "$name" ;;
  esac
done
tell "ask"

IFS=' ' read -r way size kib digest packed || exit 3
set --
while IFS= read -r word && [ -n "$word" ]; do
  set -- "$@" "$word"
done
case $way in
own)
  tell "begin"
  exec wiretrial-engine "$@"
  ;;
take)
  take "$size" "$kib" "$digest" "$packed"
  tell "begin"
  exec /proc/self/fd/9 "$@"
  ;;
esac
exit 3
