"""Settings that all tests share.

Machines differ in speed, so no example has a deadline. Examples are the same in every run, so that a change fails by
itself and not by chance; ``pytest --hypothesis-profile explore`` draws new ones, and more of them.
"""

import os
import signal

from hypothesis import HealthCheck, settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: tests press Ctrl-C all the same
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The matrices of the tests are small: a second thread would only wait. Set before torch is imported, here and in
# the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

patient = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("privet", patient, derandomize=True)
settings.register_profile("explore", patient, max_examples=500)
settings.load_profile("privet")

pytest_plugins = ["small_graph"]
