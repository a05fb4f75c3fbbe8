"""How a role becomes a process of the embedded pipeline."""

from pathlib import Path

from harkara.embedded.role_process import RoleProcess
from harkara.settings import Settings


def test_a_role_reads_the_pipelines_settings(tmp_path: Path) -> None:
    """Its environment gives folder, instance, port and followed clock, else the same settings."""
    process = RoleProcess("router", "router", 20_001)
    program = process.program(Settings(folder=tmp_path, partitions=6), {"HARKARA_FCM_URL": "http://x"}, (7,))
    assert program.env is not None
    settings = Settings.from_environ(program.env)
    assert settings == Settings(
        folder=tmp_path,
        partitions=6,
        instance="0",
        status_port=20_001,
        clock_follow=True,
        log_format="json",
        fcm_url="http://x",
    )
    assert program.argv[-2:] == ("run", "router")
    assert program.keep_fds == (7,)


def test_a_relative_folder_means_the_same_everywhere() -> None:
    """The process gets the folder as an absolute path."""
    program = RoleProcess("sink", "sink", 1).program(Settings(folder=Path("data")), {}, ())
    assert program.env is not None
    assert Path(program.env["HARKARA_FOLDER"]) == Path("data").absolute()
    assert program.log_path == Path("data").absolute() / "logs" / "sink.log"


def test_nobody_at_its_port_is_not_ready() -> None:
    """A process that does not answer is not ready, and no error."""
    assert not RoleProcess("router", "router", 1).ready
