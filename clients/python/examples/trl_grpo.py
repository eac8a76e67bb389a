"""Trains a model with TRL's GRPO on kernelrl's tasks: the judge is its reward.

pip install 'trl>=1.10' kernelrl
kernelrl serve --backend nvrtc                                   # on the machine with the judging GPU
KERNELRL_URL=http://127.0.0.1:8400 python trl_grpo.py Qwen/Qwen2.5-Coder-1.5B-Instruct
"""

import sys

import torch
from datasets import Dataset
from kernelrl import Judge
from kernelrl.rewards import Scorer
from trl import GRPOConfig, GRPOTrainer

model = sys.argv[1]
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 200

with Judge() as judge:
    tasks = [judge.task(task.id) for task in judge.tasks() if task.tier == 0]

trainer = GRPOTrainer(
    model=model,
    reward_funcs=Scorer().trl,
    train_dataset=Dataset.from_list(
        [{"prompt": [{"role": "user", "content": task.prompt}], "task": task.id} for task in tasks]
    ),
    args=GRPOConfig(
        output_dir="grpo",
        max_steps=steps,
        num_generations=4,
        per_device_train_batch_size=4,
        max_completion_length=512,
        logging_steps=1,
        report_to="none",
        use_cpu=not torch.cuda.is_available(),
    ),
)
trainer.train()
