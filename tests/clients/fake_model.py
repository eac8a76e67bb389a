"""A model server that gives one answer to every chat: fake_model.py KERNEL.cu; prints its port."""
import http.server
import json
import pathlib
import sys

ANSWER = f"<KERNEL>\n```cuda\n{pathlib.Path(sys.argv[1]).read_text()}\n```\n</KERNEL>"
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": ANSWER}
        self.answer({"id": "1", "object": "chat.completion", "created": 0, "model": "fake", "usage": USAGE,
                     "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": "fake", "object": "model"}]})

    def answer(self, value):
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_port, flush=True)
server.serve_forever()
