import unittest

import new_component


class Items(unittest.TestCase):
    def test_have_ids_of_their_own(self):
        ids = [item["id"] for item in new_component.items(count=3)]
        self.assertEqual(ids, ["scaled_copy_2", "scaled_copy_3", "scaled_copy_4"])
