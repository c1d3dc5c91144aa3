"""Settings that all tests share. Machines differ in speed, so no example has a deadline."""

import os
import signal

from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: tests press Ctrl-C all the same
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The matrices of the tests are small: a second thread would only wait. Set before torch is imported, here and in
# the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("privet", deadline=None, print_blob=True)
settings.load_profile("privet")

pytest_plugins = ["small_graph"]
