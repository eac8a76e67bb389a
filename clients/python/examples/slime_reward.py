"""A reward model for slime:

--custom-rm-path slime_reward.reward --prompt-data tasks.jsonl --input-key prompt --label-key task --apply-chat-template

with KERNELRL_URL in the environment of its workers. As a script this file writes the prompts:

KERNELRL_URL=http://127.0.0.1:8400 python slime_reward.py tasks.jsonl
"""

import json
import sys

from kernelrl import Judge
from kernelrl.rewards import Scorer

scorer = Scorer()
reward = scorer.slime

if __name__ == "__main__":
    with Judge() as judge, open(sys.argv[1], "w") as file:
        for task in judge.tasks():
            prompt = [{"role": "user", "content": judge.task(task.id).prompt}]
            file.write(json.dumps({"prompt": prompt, "task": task.id}) + "\n")
