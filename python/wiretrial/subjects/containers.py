"""Servers in containers: an image, or a service of a compose file.

Knows podman, docker and how their containers are found; must not know what is measured. Nothing is
pulled: what is measured has to be here already. A container uses the host's network, so that no
proxy stands before it, and the process that is watched is the container's own.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wiretrial.errors import SubjectUnavailable, UsageProblem
from wiretrial.subjects.own import Container

IMAGE, COMPOSE = "image:", "compose:"
ENGINES = ("podman", "docker")
LIMIT_S = 60.0
_PORT = re.compile(r"^(?P<name>.+?)(?:@(?P<port>\d{1,5}))?$")
_SERVICE = re.compile(r"^(?P<file>.+?)(?:#(?P<service>[\w.-]+):(?P<port>\d{1,5}))?$")

# `$0` is the engine. A container is no child of the command that starts it, so it is ended by name.
_RUN_IMAGE = r"""
image=$1 run=$2 port=$3 cpus=$4 name=${2##*/} pin=
# Podman's containers are ours, and run on our CPUs; docker's are its service's.
if [ "$0" = docker ] && [ -n "$cpus" ]; then pin="--cpuset-cpus=$cpus"; fi
end() {
  trap - TERM INT HUP
  "$0" kill "$name" >/dev/null 2>&1
  "$0" rm --force "$name" >/dev/null 2>&1
  exit "$1"
}
trap 'end 143' TERM INT HUP
"$0" run --rm --name "$name" --network host $pin --env PORT="$port" "$image" &
main=$!
while kill -0 $main 2>/dev/null; do
  pid=$("$0" inspect --format '{{.State.Pid}}' "$name" 2>/dev/null)
  if [ "${pid:-0}" -gt 0 ]; then echo "$pid" >"$run/watched"; break; fi
  sleep 0.1
done
wait $main
end $?
"""
_RUN_COMPOSE = r"""
provider=$1 file=$2 service=$3 run=$4 name=$(echo "${4##*/}" | tr . -)
end() {
  trap - TERM INT HUP
  $provider -f "$file" -p "$name" down --volumes --timeout 1 >/dev/null 2>&1
  exit "$1"
}
trap 'end 143' TERM INT HUP
$provider -f "$file" -p "$name" up &
main=$!
while kill -0 $main 2>/dev/null; do
  id=$("$0" ps --quiet --filter "label=com.docker.compose.project=$name" \
    --filter "label=com.docker.compose.service=$service")
  pid=$("$0" inspect --format '{{.State.Pid}}' $id 2>/dev/null | head -n 1)
  if [ "${pid:-0}" -gt 0 ]; then echo "$pid" >"$run/watched"; break; fi
  sleep 0.2
done
wait $main
end $?
"""


def is_meant(text: str) -> bool:
    """Whether it names an image or a compose file."""
    return text.startswith((IMAGE, COMPOSE))


def parse(text: str) -> tuple[Container, int]:
    """The container that was named, and the port on which it listens."""
    return _image(text) if text.startswith(IMAGE) else _compose(text)


def command(container: Container) -> tuple[str, ...]:
    """What starts it, stays until it ends, and ends it when it is ended itself."""
    words = ("sh", "-c")
    if container.kind == "image":
        given = (container.engine, container.image, "{run}", "{port}", "{cpus}")
        return (*words, _RUN_IMAGE, *given)
    given = (container.engine, container.provider, container.image, container.service, "{run}")
    return (*words, _RUN_COMPOSE, *given)


def _image(text: str) -> tuple[Container, int]:
    found = _PORT.match(text.removeprefix(IMAGE))
    if found is None:
        raise UsageProblem(f"{text!r} names no image", f"write {IMAGE}NAME:TAG@PORT")
    name = found["name"]
    engine = _engine(text)
    known = _ask(text, [engine, "image", "inspect", name])
    if known is None:
        raise SubjectUnavailable(
            f"{text}: {engine} has no image {name} here",
            f"get it first: {engine} pull {name}, or {engine} build -t {name} .",
        )
    image = json.loads(known)[0]
    port = int(found["port"]) if found["port"] else _exposed(text, name, image)
    container = Container(
        kind="image", engine=engine, image=name, id=str(image["Id"]).removeprefix("sha256:")
    )
    return container, port


def _exposed(text: str, name: str, image: dict[str, Any]) -> int:
    """The one port that the image says it listens on."""
    config = image.get("Config") or {}
    ports = [one.partition("/")[0] for one in config.get("ExposedPorts") or {}]
    if len(ports) == 1:
        return int(ports[0])
    told = f"exposes {' and '.join(sorted(ports))}" if ports else "exposes no port"
    raise UsageProblem(f"{text}: the image {told}", f"write {IMAGE}{name}@PORT")


def _compose(text: str) -> tuple[Container, int]:
    found = _SERVICE.match(text.removeprefix(COMPOSE))
    if found is None or not found["port"]:
        file = found["file"] if found else "FILE"
        raise UsageProblem(
            f"{text!r} names no service and port",
            f"write {COMPOSE}{file.partition('#')[0]}#SERVICE:PORT, with the port on this machine",
        )
    path = Path(found["file"])
    if not path.is_file():
        raise UsageProblem(f"{text}: there is no file {path}", "name a compose file")
    engine = _engine(text)
    container = Container(
        kind="compose",
        engine=engine,
        provider=_provider(text, engine),
        image=str(path.resolve()),
        service=found["service"],
        id=hashlib.sha256(path.read_bytes()).hexdigest(),
    )
    return container, int(found["port"])


def _engine(text: str) -> str:
    for name in ENGINES:
        if shutil.which(name):
            return name
    raise SubjectUnavailable(
        f"{text} needs podman or docker, and neither is installed", "install podman"
    )


def _provider(text: str, engine: str) -> str:
    """What carries out a compose file."""
    if shutil.which(f"{engine}-compose"):
        return f"{engine}-compose"
    if _ask(text, [engine, "compose", "version"]) is not None:
        return f"{engine} compose"
    raise SubjectUnavailable(
        f"{text} needs {engine}-compose, which is not installed", f"install {engine}-compose"
    )


def _ask(text: str, words: Sequence[str]) -> str | None:
    """What a question to the engine tells; None: there is no such thing."""
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SubjectUnavailable(
            f"{text}: {words[0]} does not answer", f"try `{' '.join(words)}` by hand"
        ) from error
    if done.returncode and "connect" in done.stderr.lower():
        said = done.stderr.strip().splitlines()[-1]
        raise SubjectUnavailable(f"{text}: {said}", f"start the service of {words[0]}")
    return None if done.returncode else done.stdout
