"""The commands below ``strongroom oss``."""

import click

_MISSING = "the simulator is in a distribution of its own: pip install strongroom-simulators"


@click.group()
def oss() -> None:
    """Work with Aliyun OSS."""


# The simulator defines the options, and prints them for --help.
@oss.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def simulator(options: tuple[str, ...]) -> None:
    """Serve the OSS protocol on this machine, for tests and development.

    Needs the distribution strongroom-simulators.
    """
    try:
        from strongroom_simulators.oss.commands import simulator
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("strongroom_simulators"):
            raise
        raise click.ClickException(_MISSING) from None
    simulator.main(options, prog_name="strongroom oss simulator")
