"""The farm on Ray, without Ray: what it sends to the nodes, the list of servers, and how many are wanted."""

import asyncio
import re
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

STUBS = {name: mock.MagicMock(name=name) for name in ("ray", "ray.serve", "ray.serve.config")}
with mock.patch.dict(sys.modules, STUBS):
    import kernelrl.ray as farm


class Farm(unittest.TestCase):
    def test_its_variables_can_be_sent_to_nodes(self):
        """Ray sends the variables that its classes use: an opener of urllib has a TLS context, which cannot be sent."""
        for name, value in vars(farm).items():
            if name.isupper():
                self.assertIsInstance(value, (str, float, Path, re.Pattern), name)

    def test_a_server_without_a_heartbeat_is_no_member_any_more(self):
        async def check():
            members = farm.Members()
            with mock.patch.object(farm.time, "monotonic") as now:
                now.return_value = 100.0
                await members.beat("http://b:1", {"running": 1})
                await members.beat("http://a:1", {})
                self.assertEqual((await members())["members"], ["http://a:1", "http://b:1"])
                now.return_value = 100.1 + farm.FORGOTTEN_S / 2
                await members.beat("http://a:1", {})
                await members.leave("http://c:1")
                now.return_value = 100.1 + farm.FORGOTTEN_S
                self.assertEqual(await members(), {"members": ["http://a:1"], "servers": {"http://a:1": {}}})

        asyncio.run(check())

    def test_as_many_servers_as_there_is_work_for(self):
        def wanted(loads, now=2):
            return farm.ByLoad(1.5)(types.SimpleNamespace(
                aggregated_metrics={"load": loads}, target_num_replicas=now, capacity_adjusted_min_replicas=1,
                capacity_adjusted_max_replicas=4))[0]

        self.assertEqual(wanted({"a": 0.0, "b": 0.0}), 1)
        self.assertEqual(wanted({"a": 2.0, "b": 2.0}), 3)
        self.assertEqual(wanted({"a": 90.0}), 4)
        self.assertEqual(wanted({}), 2)


if __name__ == "__main__":
    unittest.main()
