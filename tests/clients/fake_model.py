"""A model server that gives one answer to every chat: fake_model.py KERNEL.cu; prints its port."""
import http.server
import json
import pathlib
import sys

ANSWER = f"<KERNEL>\n```cuda\n{pathlib.Path(sys.argv[1]).read_text()}\n```\n</KERNEL>"
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        streams = asked.get("stream", False)
        choice = {"index": 0, "finish_reason": "stop", "delta" if streams else "message": {"role": "assistant", "content": ANSWER}}
        text = json.dumps({"id": "1", "object": "chat.completion.chunk" if streams else "chat.completion", "created": 0,
                           "model": "fake", "choices": [choice], "usage": USAGE})
        if streams:
            self.answer("text/event-stream", f"data: {text}\n\ndata: [DONE]\n\n")
        else:
            self.answer("application/json", text)

    def answer(self, kind, text):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_port, flush=True)
server.serve_forever()
