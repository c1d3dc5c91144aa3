"""Accounts: what a mechanism or a system promises for given parameters, what it costs and what it is worth."""

from privet.accounts.account import CentralAccount, LocalAccount, MechanismAccount, account, account_mechanism

__all__ = ["CentralAccount", "LocalAccount", "MechanismAccount", "account", "account_mechanism"]
