"""Signals of the tests' programs: whoever starts the tests may ignore some, as shells do for background jobs and nohup does."""
import signal


def heed():
    """From now on programs that are started heed those that ask for an end."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
