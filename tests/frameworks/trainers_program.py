# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Trainers that bring their own loop. sys.argv[1]: "lightning" gives the optimizer each step as a closure; "accumulate" is Lightning with
two batches a step and validation between the steps; "transformers" fetches the two batches of a step up front. Each trains for 20 steps of
batches of 2 samples. A sample takes SAMPLE seconds; a batch takes FORWARD and BACKWARD seconds. Prints the number of steps."""

import logging
import os
import sys
import tempfile
import time
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")
import torch
from torch import nn

SAMPLE, FORWARD, BACKWARD = 0.002, 0.006, 0.008
STEPS = 20


class Sleeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        time.sleep(FORWARD)
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(BACKWARD)
        return gradient


class Samples(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(SAMPLE)
        return {"x": torch.full((8,), index % 5 / 5), "labels": torch.ones(1)}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 1)

    def forward(self, x, labels):
        output = Sleeps.apply(self.body(x))
        return {"loss": nn.functional.mse_loss(output, labels), "logits": output}


def with_lightning(batches_a_step, folder):
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def training_step(self, batch, index):
            return self.net(**batch)["loss"]

        def validation_step(self, batch, index):
            self.net(**batch)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), 1e-3)

    validate = {"val_check_interval": 0.5} if batches_a_step > 1 else {"limit_val_batches": 0}
    trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                                enable_model_summary=False, accumulate_grad_batches=batches_a_step, num_sanity_val_steps=0,
                                default_root_dir=folder, **validate)
    loaders = [torch.utils.data.DataLoader(Samples(2 * count), batch_size=2) for count in (STEPS * batches_a_step, 3)]
    trainer.fit(Module(), *loaders)
    return trainer.global_step


def with_transformers(folder):
    from transformers import PrinterCallback, Trainer, TrainingArguments

    arguments = TrainingArguments(output_dir=folder, per_device_train_batch_size=2, gradient_accumulation_steps=2, num_train_epochs=1,
                                  report_to=[], disable_tqdm=True, save_strategy="no", logging_strategy="no", use_cpu=True,
                                  remove_unused_columns=False)
    trainer = Trainer(model=Net(), args=arguments, train_dataset=Samples(STEPS * 4))
    trainer.remove_callback(PrinterCallback)
    return trainer.train().global_step


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        loops = {"lightning": lambda: with_lightning(1, folder), "accumulate": lambda: with_lightning(2, folder),
                 "transformers": lambda: with_transformers(folder)}
        print(f"{loops[sys.argv[1]]()} steps")


if __name__ == "__main__":
    main()
