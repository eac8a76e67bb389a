import unittest

import @name@


class Items(unittest.TestCase):
    def test_have_ids_of_their_own(self):
        ids = [item["id"] for item in @name@.items(count=3)]
        self.assertEqual(ids, ["scaled_copy_1", "scaled_copy_2", "scaled_copy_3"])
