"""The program speaks MCP, both generations over both transports: python3 tests/serve/mcp_test.py

KERNELRL names the program.
"""
import json
import os
import sys
import tempfile
import unittest

from judge_server import CHECKOUT, JudgeServer
from mcp_program import Stdio

sys.path.insert(0, str(CHECKOUT / "tests" / "clients"))
from mcp_client import BROKEN, RIGHT, WRONG  # noqa: E402

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
TOOLS = ["list_tasks", "show_task", "evaluate_kernel", "profile_kernel", "compare_kernels", "best"]


def request(method, params=None, **more):
    return {"jsonrpc": "2.0", "id": 1, "method": method, **({} if params is None else {"params": params}), **more}


def call(tool, arguments, meta=None):
    return request("tools/call", {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})})


def headers_of(message):
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": message["method"]}
    name = message.get("params", {}).get("name")
    return {**headers, **({"Mcp-Name": name} if name else {})}


def post(server, method, body, headers=()):
    """The status, the headers, and all messages of the answer."""
    answer = server.ask(method, "/mcp", body, {"Accept": "application/json, text/event-stream", **dict(headers)})
    is_stream = "event-stream" in answer.headers.get("Content-Type", "")
    texts = [data for _, data in answer.events] if is_stream else [answer.text] if answer.text else []
    return answer.status, answer.headers, [json.loads(text) for text in texts]


class OverHttp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = JudgeServer()

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def post(self, message, headers=()):
        return post(self.server, "POST", message, headers)

    def ask(self, message):
        status, _, messages = self.post(message)
        self.assertEqual(status, 200, messages)
        return messages[-1]["result"]

    def stateless(self, method, **params):
        message = request(method, {**params, "_meta": META})
        status, _, messages = self.post(message, headers_of(message))
        return status, messages[-1]

    def test_a_handshake_and_its_session(self):
        status, headers, messages = self.post(request("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}))
        self.assertEqual((status, messages[0]["result"]["protocolVersion"]), (200, "2025-06-18"))
        session = {"Mcp-Session-Id": headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-06-18"}
        self.assertEqual(self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session)[::2], (202, []))
        status, _, messages = self.post(request("tools/list"), session)
        self.assertEqual([t["name"] for t in messages[0]["result"]["tools"]], TOOLS)
        self.assertEqual(post(self.server, "GET", None, session)[0], 405)
        self.assertEqual(post(self.server, "DELETE", None, session)[0], 204)
        self.assertEqual(self.post(request("ping"), session)[0], 404)
        self.assertEqual(self.ask(request("ping")), {})  # a session may be done without

    def test_an_unknown_revision_is_offered_the_latest(self):
        result = self.ask(request("initialize", {"protocolVersion": "1999-01-01"}))
        self.assertEqual(result["protocolVersion"], "2025-11-25")

    def test_requests_that_stand_alone(self):
        status, reply = self.stateless("server/discover")
        result = reply["result"]
        self.assertEqual((status, result["supportedVersions"], result["resultType"]), (200, ["2026-07-28"], "complete"))
        self.assertGreater(result["ttlMs"], 0)
        status, reply = self.stateless("tools/list")
        self.assertEqual((status, reply["result"]["cacheScope"]), (200, "public"))
        status, reply = self.stateless("tools/call", name="list_tasks", arguments={"search": "row_sum"})
        self.assertEqual(reply["result"]["structuredContent"], {"tasks": [{"id": "row_sum", "title": "Sum of every row", "tier": 1}]})

    def test_errors_of_requests_that_stand_alone(self):
        self.assertEqual([self.stateless(m)[0] for m in ("ping", "initialized", "prompts/list")], [404] * 3)
        self.assertEqual(self.stateless("ping")[1]["error"]["code"], -32601)
        good = request("tools/list", {"_meta": META})
        wrong = [({"Mcp-Method": "ping"}, good, -32020),
                 ({"MCP-Protocol-Version": "2025-11-25"}, good, -32020),
                 ({"Mcp-Name": "best"}, request("tools/call", {"name": "list_tasks", "_meta": META}), -32020),
                 ({}, request("tools/list"), -32602),
                 ({}, request("tools/call", {"name": "nothing", "_meta": META}), -32602),
                 ({"MCP-Protocol-Version": "2031-01-01"},
                  request("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}}), -32022)]
        for headers, message, code in wrong:
            status, _, messages = self.post(message, {**headers_of(message), **headers})
            self.assertEqual((status, messages[0]["error"]["code"]), (400, code), message)
        self.assertEqual(messages[0]["error"]["data"], {"supported": ["2026-07-28"], "requested": "2031-01-01"})

    def test_what_is_no_message(self):
        for body, status, code in (("{", 400, -32700), ("[" * 100000, 400, -32700), ("{}", 200, -32600), ("[]", 200, -32600),
                                   ('{"id": 1}', 200, -32600), ('{"jsonrpc": "2.0", "id": [1], "method": "ping"}', 200, -32600)):
            found, _, messages = self.post(body)
            self.assertEqual((found, messages[0]["error"]["code"], messages[0]["id"]), (status, code, None), body[:50])
        self.assertEqual(self.post({"jsonrpc": "2.0", "id": 3, "result": {}})[0], 202)

    def test_pages_of_others_may_not_ask(self):
        self.assertEqual(self.post(request("ping"), {"Origin": "https://example.org"})[0], 403)

    def test_a_right_kernel(self):
        result = self.ask(call("evaluate_kernel", {"task": "row_sum", "source": RIGHT}))
        told = result["structuredContent"]
        self.assertEqual((result["isError"], told["verdict"], told["passed"], told["unseen"]["failed"]), (False, "ok", True, 0))
        self.assertGreater(told["speedup"], 1)
        self.assertTrue(told["estimated"] and told["device"].startswith("emulated "), told["device"])
        self.assertEqual({"time_us", "baseline_us", "speedup", "speedup_interval", "roofline"} - set(told["cases"][0]), set())
        self.assertEqual(told["kernels"][0]["name"], "row_sum")
        self.assertTrue(told["limits"])
        self.assertIn("times the baseline", result["content"][0]["text"])
        self.assertIn("limits: ", result["content"][0]["text"])
        best = self.ask(call("best", {"task": "row_sum"}))["structuredContent"]["best"]
        self.assertEqual(best[0]["task"], "row_sum")

    def test_a_fault_of_the_kernel_is_an_answer(self):
        for source, verdict, line in ((WRONG, "runtime_fault", 4), (BROKEN, "compile_error", 4)):
            result = self.ask(call("evaluate_kernel", {"task": "row_sum", "source": source}))
            told = result["structuredContent"]
            self.assertEqual((result["isError"], told["verdict"], told["line"]), (False, verdict, line))
            self.assertIn(f"line {line}", told["reason"])

    def test_what_is_called_wrongly_is_an_error(self):
        for arguments, why in (({"task": "row_summ", "source": ""}, "did you mean 'row_sum'?"),
                               ({"task": "row_sum"}, "argument 'source' is missing"),
                               ({"task": "row_sum", "source": 3}, "argument 'source' must be a string")):
            result = self.ask(call("evaluate_kernel", arguments))
            self.assertEqual((result["isError"], result["structuredContent"]["infrastructure"]), (True, False))
            self.assertIn(why, result["content"][0]["text"])

    def test_a_profile_has_values(self):
        told = self.ask(call("profile_kernel", {"task": "row_sum", "source": RIGHT}))["structuredContent"]
        self.assertGreater(told["values"][told["cases"][0]["case"]]["dram_bytes"], 0)

    def test_kernels_are_compared_with_progress(self):
        arguments = {"task": "row_sum", "kernels": [{"name": "slow", "source": RIGHT + "// compared"}, {"name": "bad", "source": WRONG}]}
        message = call("compare_kernels", arguments, {**META, "progressToken": "p"})
        status, headers, messages = self.post(message, headers_of(message))
        self.assertEqual((status, headers["Content-Type"]), (200, "text/event-stream"))
        progress = [m["params"]["progress"] for m in messages[:-1]]
        self.assertEqual(progress, sorted(set(progress)))
        self.assertEqual({m["params"]["progressToken"] for m in messages[:-1]}, {"p"})
        told = messages[-1]["result"]["structuredContent"]
        self.assertEqual([k["verdict"] for k in told["kernels"]], ["ok", "runtime_fault"])
        self.assertEqual(told["fastest"], "slow")

    def test_nothing_secret_is_shown(self):
        _, _, messages = self.post(call("profile_kernel", {"task": "row_sum", "source": RIGHT}))
        task = self.ask(call("show_task", {"task": "row_sum"}))
        shown = {c["case"] for c in messages[-1]["result"]["structuredContent"]["cases"]}
        self.assertTrue(all(case in task["structuredContent"]["prompt"] for case in shown))
        text = json.dumps([messages, task])
        for secret in ("seed", "holdout", "ranges", "pool"):
            self.assertNotIn(secret, text)

    def test_modules_are_not_run(self):
        _, _, messages = self.post(call("new_task", {"id": "a", "module": "x"}))
        self.assertEqual(messages[0]["error"]["code"], -32602)


class OnStreams(unittest.TestCase):
    def test_both_generations(self):
        program = Stdio()
        reply = program.ask(request("initialize", {"protocolVersion": "2025-11-25"}))[-1]["result"]
        self.assertEqual((reply["protocolVersion"], reply["serverInfo"]["name"]), ("2025-11-25", "kernelrl"))
        self.assertIn("show_task", reply["instructions"])
        program.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.assertEqual(program.ask("nonsense")[-1]["error"]["code"], -32700)
        messages = program.ask(call("evaluate_kernel", {"task": "row_sum", "source": WRONG}, {**META, "progressToken": 7}))
        self.assertEqual([m["method"] for m in messages[:-1]], ["notifications/progress"])
        self.assertEqual(messages[-1]["result"]["structuredContent"]["verdict"], "runtime_fault")
        self.assertEqual(messages[-1]["result"]["resultType"], "complete")
        self.assertEqual(program.close(), (0, ""))

    def test_what_is_asked_is_answered_after_the_input_ends(self):
        program = Stdio()
        program.send(call("evaluate_kernel", {"task": "row_sum", "source": RIGHT}))
        code, rest = program.close()
        self.assertEqual((code, json.loads(rest)["result"]["structuredContent"]["verdict"]), (0, "ok"))

    def test_a_cancelled_call_has_no_response(self):
        program = Stdio()
        program.send(call("evaluate_kernel", {"task": "row_sum", "source": RIGHT}))
        program.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        self.assertEqual(program.ask(request("ping", id=2))[-1], {"jsonrpc": "2.0", "id": 2, "result": {}})
        self.assertEqual(program.close(), (0, ""))

    def test_a_module_that_cannot_be_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["KERNELRL_PYTHON"] = folder + "/none"
            program = Stdio()
            del os.environ["KERNELRL_PYTHON"]
            tools = program.ask(request("tools/list"))[-1]["result"]["tools"]
            self.assertEqual([t["name"] for t in tools], TOOLS + ["new_task"])
            result = program.ask(call("new_task", {"id": "a", "module": "def f(x): return x"}))[-1]["result"]
            self.assertTrue(result["isError"])
            self.assertIn("KERNELRL_PYTHON", result["content"][0]["text"])
            self.assertEqual(program.ask(call("new_task", {"id": "a/b", "module": ""}))[-1]["result"]["isError"], True)
            self.assertEqual(program.close(), (0, ""))


if __name__ == "__main__":
    unittest.main()
