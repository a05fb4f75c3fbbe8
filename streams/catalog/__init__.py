"""What the service says about its notifications: types, categories, tenants and texts.

`load` makes a `Catalog` of the texts of `catalog/*.yaml`, or says everything that is wrong with
them. Producers name a type and give data; lane, channels, caps and words come from here.
"""

from streams.catalog.catalog import Catalog
from streams.catalog.category import Cap, Category, QuietHours
from streams.catalog.load import load
from streams.catalog.notification_type import NotificationType, Quiet, Step, UnknownPolicy
from streams.catalog.problem import Problem
from streams.catalog.retry import RETRIES, RetryPlan
from streams.catalog.template import Template
from streams.catalog.tenant import Tenant

__all__ = [
    "RETRIES",
    "Cap",
    "Catalog",
    "Category",
    "NotificationType",
    "Problem",
    "Quiet",
    "QuietHours",
    "RetryPlan",
    "Step",
    "Template",
    "Tenant",
    "UnknownPolicy",
    "load",
]
