"""The commands below ``strongroom sms``."""

import click

_MISSING = "the simulator is in a distribution of its own: pip install strongroom-simulators"


@click.group()
def sms() -> None:
    """Tools for SMS."""


# The simulator defines the options, and prints them for --help.
@sms.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def simulator(options: tuple[str, ...]) -> None:
    """Run a simulated Aliyun SMS gateway, which records messages without delivering them.

    Needs the distribution strongroom-simulators.
    """
    try:
        from strongroom_simulators.sms.commands import simulator
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("strongroom_simulators"):
            raise
        raise click.ClickException(_MISSING) from None
    simulator.main(options, prog_name="strongroom sms simulator")
