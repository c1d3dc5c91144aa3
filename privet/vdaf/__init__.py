"""Prio3 of the VDAF draft 20: servers add up what nobody of them sees, and refuse what is not valid.

A client *shards* a measurement into one input share for each server. Servers *verify* the proof that comes with it by
exchanging one short message each, *aggregate* their shares of valid reports, and the collector *unshards* the sum:

>>> prio3 = variant("Prio3Histogram", length=3, chunk_length=2)
>>> reports = prio3.shard(b"our application", [0, 2, 2, 1, 2])
>>> key, nonces, public = bytes(32), [r.nonce for r in reports], [r.public_share for r in reports]
>>> states, shares = zip(*(
...     prio3.verify_init(key, b"our application", server, nonces, public, [r.input_shares[server] for r in reports])
...     for server in range(2)
... ))
>>> messages, refused = prio3.verifier_messages(b"our application", shares)
>>> prio3.unshard([prio3.aggregate(prio3.verify_next(state, messages)) for state in states])
[1, 1, 3]

The package knows nothing of studies, noise or budgets, and of privet it imports errors alone. It needs the extra
``sums``.
"""

from privet.extras import needs

try:
    from privet.vdaf.messages import Refused, Report
    from privet.vdaf.prio3 import Prio3
    from privet.vdaf.variants import VARIANTS, variant
    from privet.vdaf.verification import Verified, Verifying
except ModuleNotFoundError as error:
    if (error.name or "").split(".")[0] not in ("Crypto", "llvmlite", "numba"):
        raise
    raise ModuleNotFoundError(needs("privet.vdaf", "sums"), name=error.name) from error

__all__ = ["VARIANTS", "Prio3", "Refused", "Report", "Verified", "Verifying", "variant"]
