"""A session of the MCP package's client, 1.x or 2.x, with the judge: mcp_client.py [--module] URL|COMMAND…

Takes a task from list_tasks, and with --module one that new_task makes, to verdicts, and prints what came.
"""
import asyncio
import importlib.metadata
import os
import sys

RIGHT = """// @launch row_sum<<<rows, 32>>>(x, y, cols)
__global__ void row_sum(const float* x, float* y, int cols) {
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += 32) s += x[(long long)blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
  if (threadIdx.x == 0) y[blockIdx.x] = s;
}
"""
WRONG = RIGHT.replace("c < cols", "c <= cols")
BROKEN = RIGHT.replace("float s = 0;", "float s = 0")
MODULE = """import torch
def leaky_rowmax(x):
    return torch.nn.functional.leaky_relu(x, 0.01).max(dim=1).values
"""
ROWMAX = """// @launch rowmax<<<rows, 32>>>(x, out, columns)
__global__ void rowmax(const float* x, float* out, int columns) {
  float m = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += 32) {
    float v = x[(long long)blockIdx.x * columns + c];
    m = fmaxf(m, v > 0 ? v : 0.01f * v);
  }
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  if (threadIdx.x == 0) out[blockIdx.x] = m;
}
"""
CALLS = [("list_tasks", {"tier": 1, "search": "sum"}),
         ("show_task", {"task": "row_sum"}),
         ("evaluate_kernel", {"task": "row_sum", "source": WRONG}),
         ("evaluate_kernel", {"task": "row_sum", "source": BROKEN}),
         ("evaluate_kernel", {"task": "row_sum", "source": RIGHT}),
         ("profile_kernel", {"task": "row_sum", "source": RIGHT}),
         ("compare_kernels", {"task": "row_sum", "kernels": [{"name": "a", "source": RIGHT}, {"name": "b", "source": WRONG}]}),
         ("best", {"task": "row_sum"}),
         ("evaluate_kernel", {"task": "row_summ", "source": RIGHT})]
MODULE_CALLS = [("new_task", {"id": "leaky_rowmax", "module": MODULE, "shapes": ["x=rows:1024,columns:512"], "baseline": ROWMAX}),
                ("evaluate_kernel", {"task": "leaky_rowmax", "source": ROWMAX}),
                ("best", {"task": "leaky_rowmax"})]


async def converse(client, calls):
    tools = await client.list_tools()
    print("tools:", ", ".join(tool.name for tool in tools.tools))
    for name, arguments in calls:
        steps = []

        async def progress(done, total, message):
            steps.append(message)
        result = await client.call_tool(name, arguments, progress_callback=progress)
        is_error = getattr(result, "is_error", None) if hasattr(result, "is_error") else result.isError
        structured = getattr(result, "structured_content", None) or getattr(result, "structuredContent", None)
        verdict = structured.get("verdict", "error" if is_error else "answered")
        print(f"{name} {arguments.get('task', '')}: {verdict}; {len(steps)} steps of progress;", result.content[0].text.splitlines()[0])


async def main(target, calls):
    from mcp import StdioServerParameters
    is_http = target[0].startswith("http")
    command = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
    if importlib.metadata.version("mcp").startswith("1."):
        from mcp import ClientSession
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client
        opened = streamable_http_client(target[0]) if is_http else stdio_client(command)
        async with opened as streams, ClientSession(*streams[:2]) as client:
            print("agreed on", (await client.initialize()).protocolVersion)
            await converse(client, calls)
    else:
        from mcp import Client
        async with Client(target[0] if is_http else command) as client:
            print("agreed on", client.protocol_version)
            await converse(client, calls)


if __name__ == "__main__":
    words = sys.argv[1:]
    has_module = words[0] == "--module"
    asyncio.run(main(words[has_module:], CALLS + MODULE_CALLS * has_module))
