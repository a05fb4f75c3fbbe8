"""Writes the lock file of Kafka's jars anew: `python -m connectors.embedded.relock`.

For maintainers, after a change of `KAFKA_VERSION`; needs the network.
"""

import hashlib
import tempfile
from pathlib import Path

import jgo
from jgo.maven import MavenContext

from connectors.embedded.jars import KAFKA_VERSION, LOCK_FILE


def relock() -> None:
    """Resolve the broker and write each jar's coordinate, size in bytes and SHA-256."""
    broker = jgo.resolve(f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}")
    wanted = [(jar.groupId, jar.artifactId, jar.version) for jar in broker]
    # The broker asks for log4j but not for the bridge that its logging needs to reach it. It is added
    # here, not resolved together: its parent would then choose the versions of Kafka's own parts.
    wanted += [(g, "log4j-slf4j-impl", v) for g, a, v in wanted if a == "log4j-core"]
    lines = ["# Written by `python -m connectors.embedded.relock`; the order is the class path's."]
    with tempfile.TemporaryDirectory() as folder:
        maven = MavenContext(repo_cache=Path(folder))
        for group, artifact, version in wanted:
            jar = maven.project(group, artifact).at_version(version).artifact().resolve().read_bytes()
            lines.append(f"{group}:{artifact}:{version} {len(jar)} {hashlib.sha256(jar).hexdigest()}")
    LOCK_FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    relock()
