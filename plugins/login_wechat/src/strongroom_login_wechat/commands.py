"""The commands below ``strongroom wechat``."""

import click

_MISSING = "the simulator is in a distribution of its own: pip install strongroom-simulators"


@click.group()
def wechat() -> None:
    """Tools for WeChat login."""


# The simulator defines the options, and prints them for --help.
@wechat.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def simulator(options: tuple[str, ...]) -> None:
    """Run a simulated WeChat platform with made-up people.

    Needs the distribution strongroom-simulators.
    """
    try:
        from strongroom_simulators.wechat.commands import simulator
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("strongroom_simulators"):
            raise
        raise click.ClickException(_MISSING) from None
    simulator.main(options, prog_name="strongroom wechat simulator")
