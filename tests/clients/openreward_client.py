"""A session of the Open Reward Standard's own client at a server: openreward_client.py URL TASK KERNEL.cu"""
import asyncio
import pathlib
import sys

from openreward import AsyncOpenReward

url, task_id, kernel = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).read_text()


async def main():
    client = AsyncOpenReward(api_key="none")
    try:
        environment = client.environments.get("kernelrl", base_url=url)
        print("splits:", await environment.list_splits(), "tasks:", await environment.num_tasks("train"))
        tasks = await environment.list_tasks("train")
        task = next(task for task in tasks if task.task_spec["problem_id"] == task_id)
        async with environment.session(task=task) as session:
            prompt = await session.get_prompt()
            print("prompt:", len(prompt[0].text), "characters; messages:", [m.role for m in await session.get_messages()])
            print("tools:", [tool.name for tool in await session.list_tools()])
            for name, code in (("an empty kernel", "__global__ void k() {}"), ("a right kernel", kernel)):
                output = await session.call_tool("submit", {"code": code})
                print(f"submit, {name}: reward {output.reward:.3f}, finished {output.finished}, {output.metadata}")
            try:
                await session.call_tool("submit", {"source": kernel})
            except Exception as error:
                print("a wrong call:", type(error).__name__, error)
    finally:
        await client.environments.aclose()


asyncio.run(main())
