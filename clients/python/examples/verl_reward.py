"""A reward function for verl:

custom_reward_function.path=verl_reward.py custom_reward_function.name=compute_score

It runs where verl's workers run: give them KERNELRL_URL and, if the server wants one, KERNELRL_TOKEN. In the dataset,
reward_model.ground_truth is the task's id. As a script this file writes such a dataset:

KERNELRL_URL=http://127.0.0.1:8400 python verl_reward.py tasks.jsonl      # then data.train_files=tasks.jsonl
"""

import json
import sys

from kernelrl import Judge
from kernelrl.rewards import Scorer

scorer = Scorer()
compute_score = scorer.verl

if __name__ == "__main__":
    with Judge() as judge, open(sys.argv[1], "w") as file:
        for task in judge.tasks():
            row = {
                "data_source": "kernelrl",
                "prompt": [{"role": "user", "content": judge.task(task.id).prompt}],
                "reward_model": {"style": "rule", "ground_truth": task.id},
                "extra_info": {"tier": task.tier},
            }
            file.write(json.dumps(row) + "\n")
