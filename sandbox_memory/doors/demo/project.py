"""The small project that the demo's agents work on."""

from __future__ import annotations

FILES = {
    "README.md": """\
# Acme invoices

What our customers owe, to the cent. Sources are in src/, tests in tests/, what a release needs in ops/.
""",
    "src/acme/__init__.py": "",
    "src/acme/invoice.py": '''\
from decimal import Decimal


def total(lines, tax=Decimal("0.19")):
    """What an invoice comes to: quantity times price of each line, with tax, in whole cents."""
    net = sum(quantity * Decimal(price) for quantity, price in lines)
    return round(net * (1 + tax), 2)
''',
    "tests/test_invoice.py": """\
import unittest
from decimal import Decimal

from acme.invoice import total


class InvoiceTest(unittest.TestCase):
    def test_half_a_cent_is_rounded_up(self):
        self.assertEqual(total([(1, "1.50")]), Decimal("1.79"))
""",
    "ops/servers.ini": """\
[servers]
staging = staging.acme.example:8443
""",
    "ops/release.py": '''\
"""Releases to staging. A stand-in: it only writes down where to."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
server = f"staging.acme.example:{parser.parse_args().port}"
with Path(__file__).with_name("release.log").open("a") as log:
    log.write(server + "\\n")
print("released to", server)
''',
    "data/leads.csv": """\
account,segment,seats,trial_events
Northwind Clinics,healthcare,240,98
Fabrik Retail,retail,75,18
Contoso Pay,finance,180,126
Lakeside Labs,healthcare,52,22
""",
}
