#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Train a small residual network to tell ten kinds of pattern apart.

The images are synthetic PNG files, written to a cache directory on the first run and read back by
a DataLoader whose workers decode and augment them. Needs torch and numpy, nothing else; uses CUDA
by itself when there is some. On a CPU the whole of standard output is the same, bit for bit, from
run to run with the same options; times go to standard error.
"""

import argparse
import hashlib
import os
import shutil
import struct
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

CLASSES = 10
IMAGES_PER_CLASS = 64
IMAGE_PX = 256  # side of a file's image
INPUT_PX = 64  # side of what the network sees
DATA_NAME = f"patterns-v1-{CLASSES}x{IMAGES_PER_CLASS}-{IMAGE_PX}px"
PNG_MAGIC = b"\x89PNG\r\n\x1a\n"


# ---- the images -------------------------------------------------------------------------------

def draw_image(label, rng):
    """A coloured grating in noise: its angle, pitch and tint come from the class."""
    y, x = np.mgrid[0:IMAGE_PX, 0:IMAGE_PX].astype(np.float32) / IMAGE_PX
    angle = np.pi * (label % 5) / 5 + rng.normal(0, 0.08)
    pitch = (6.0 if label < 5 else 11.0) * rng.uniform(0.9, 1.1)
    along = x * np.cos(angle) + y * np.sin(angle)
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (pitch * along + rng.uniform()))
    tint = 0.5 + 0.3 * np.cos(2 * np.pi * (label / CLASSES + np.array([0.0, 1 / 3, 2 / 3])))
    tint = np.clip(tint + rng.normal(0, 0.2, 3), 0.1, 1.0)
    noise = rng.normal(0, 0.06, (IMAGE_PX, IMAGE_PX, 1))
    return (255 * np.clip(wave[..., None] * tint + noise, 0, 1)).astype(np.uint8)


def png_chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def encode_png(image):
    """8-bit RGB; every row but the first holds its difference to the row above (filter 'up')."""
    height, width, _ = image.shape
    rows = np.empty((height, 1 + 3 * width), np.uint8)
    rows[0, 0], rows[1:, 0] = 0, 2
    flat = image.reshape(height, -1)
    rows[0, 1:] = flat[0]
    rows[1:, 1:] = flat[1:] - flat[:-1]
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"".join((PNG_MAGIC, png_chunk(b"IHDR", header),
                     png_chunk(b"IDAT", zlib.compress(rows.tobytes(), 1)), png_chunk(b"IEND", b"")))


def decode_png(data):
    """The inverse, for 8-bit RGB with the filters none, sub and up; checks every chunk's CRC."""
    if not data.startswith(PNG_MAGIC):
        raise ValueError("not a PNG file")
    at, packed, size = len(PNG_MAGIC), [], None
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        if struct.unpack_from(">I", data, at + 8 + length)[0] != zlib.crc32(kind + body):
            raise ValueError("damaged PNG chunk")
        if kind == b"IHDR":
            size = struct.unpack_from(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed.append(body)
        at += 12 + length
    if size is None or size[2:] != (8, 2, 0, 0, 0):
        raise ValueError("only 8-bit RGB without interlacing can be read here")
    width, height = size[:2]
    raw = np.frombuffer(zlib.decompress(b"".join(packed)), np.uint8).reshape(height, 1 + 3 * width)
    image = np.empty((height, 3 * width), np.uint8)
    above = np.zeros(3 * width, np.uint8)
    for row, out in zip(raw, image):
        if row[0] == 0:
            out[:] = row[1:]
        elif row[0] == 1:
            out[:] = np.cumsum(row[1:].reshape(width, 3), axis=0, dtype=np.uint8).reshape(-1)
        elif row[0] == 2:
            np.add(row[1:], above, out=out)
        else:
            raise ValueError(f"PNG filter {row[0]} is not handled here")
        above = out
    return image.reshape(height, width, 3)


def ensure_images(data_dir):
    """The folder of images, written on first use. A reader never sees it half done: it is filled
    under another name, then renamed; of two runs at once one wins, the other's is dropped."""
    target = data_dir / DATA_NAME
    if target.is_dir():
        return target
    start = time.perf_counter()
    data_dir.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=DATA_NAME + ".partial-", dir=data_dir))
    try:
        for label in range(CLASSES):
            rng = np.random.default_rng([2024, label])
            folder = partial / f"class_{label}"
            folder.mkdir()
            for number in range(IMAGES_PER_CLASS):
                (folder / f"{number:04d}.png").write_bytes(encode_png(draw_image(label, rng)))
        partial.chmod(0o755)
        try:
            partial.rename(target)
        except OSError:
            if not target.is_dir():
                raise
            return target
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    print(f"wrote {CLASSES * IMAGES_PER_CLASS} images to {target}"
          f" in {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return target


# ---- the input pipeline -----------------------------------------------------------------------

def jitter_colours(image, rng):
    """Brightness, contrast and saturation, each by up to 30 %."""
    brightness, contrast, saturation = rng.uniform(0.7, 1.3, 3).astype(np.float32)
    image = image * brightness
    image = (image - image.mean()) * contrast + image.mean()
    grey = image.mean(axis=2, keepdims=True)
    return np.clip((image - grey) * saturation + grey, 0, 1)


def blur(image, rng):
    """A separable Gaussian of seven taps with a random width."""
    taps = np.exp(-0.5 * (np.arange(-3, 4) / rng.uniform(0.4, 1.6)) ** 2).astype(np.float32)
    taps /= taps.sum()
    for axis in (0, 1):
        padded = np.pad(image, [(3, 3) if a == axis else (0, 0) for a in range(3)], mode="edge")
        length = image.shape[axis]
        image = sum(tap * padded.take(range(i, i + length), axis) for i, tap in enumerate(taps))
    return image


class PatternImages(Dataset):
    """Reads a file, decodes it, augments it at full size, then crops and shrinks it."""

    def __init__(self, root):
        self.files = sorted(root.glob("class_*/*.png"))
        self.labels = [int(f.parent.name.rsplit("_", 1)[1]) for f in self.files]
        self.rng = np.random.default_rng(0)  # every worker gets its own, see seed_worker

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = decode_png(self.files[index].read_bytes()).astype(np.float32) / 255
        image = blur(jitter_colours(image, self.rng), self.rng)
        side = int(self.rng.integers(IMAGE_PX * 3 // 4, IMAGE_PX + 1))
        top, left = self.rng.integers(0, IMAGE_PX - side + 1, 2)
        image = image[top:top + side, left:left + side]
        tensor = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))
        tensor = F.interpolate(tensor[None], size=(INPUT_PX, INPUT_PX), mode="bilinear",
                               antialias=True, align_corners=False)[0]
        return tensor.sub_(0.5).div_(0.25), self.labels[index]


def seed_worker(_worker_id):
    info = torch.utils.data.get_worker_info()
    info.dataset.rng = np.random.default_rng(info.seed)


# ---- the network ------------------------------------------------------------------------------

class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                          nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class SmallResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16),
                                  nn.ReLU())
        self.body = nn.Sequential(Block(16, 16, 1), Block(16, 32, 2), Block(32, 64, 2))
        self.head = nn.Linear(64, CLASSES)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


# ---- the training -----------------------------------------------------------------------------

def train_epoch(model, optimizer, loader, device):
    total, correct, seen = 0.0, 0, 0
    for images, labels in loader:
        images = images.to(device, non_blocking=True)
        labels = labels.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        logits = model(images)
        loss = F.cross_entropy(logits, labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
        correct += int((logits.argmax(1) == labels).sum())
        seen += len(labels)
    return total / seen, correct / seen, seen


def weights_digest(model):
    digest = hashlib.sha256()
    for value in model.state_dict().values():
        digest.update(value.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def default_data_dir():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "pytorch-train-example"


def parse_arguments():
    parser = argparse.ArgumentParser(description="Train a small image classifier.")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=0,
                        help="steps in an epoch; 0: each image once (the default)")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2, help="loader processes; 0: load inline")
    parser.add_argument("--start-method", choices=("fork", "spawn", "forkserver"), default="fork",
                        help="how the workers are started")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--threads", type=int, default=1,
                        help="threads of an operation on the CPU; fixed, so that results repeat")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=default_data_dir(),
                        help="directory that keeps the images (default: %(default)s)")
    options = parser.parse_args()
    for name, least in (("epochs", 1), ("steps", 0), ("batch_size", 1), ("workers", 0),
                        ("threads", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name.replace('_', '-')} must be at least {least}")
    return options


def main():
    options = parse_arguments()
    device = options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS repeats itself only so
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # a debugging aid, costs time

    dataset = PatternImages(ensure_images(options.data))
    samples = options.steps * options.batch_size or len(dataset)
    order = torch.Generator().manual_seed(options.seed)
    loader = DataLoader(
        dataset, options.batch_size, generator=order, num_workers=options.workers,
        sampler=RandomSampler(dataset, num_samples=samples, generator=order),
        worker_init_fn=seed_worker, persistent_workers=options.workers > 0,
        multiprocessing_context=options.start_method if options.workers else None,
        pin_memory=device == "cuda")

    model = SmallResNet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    print(f"training on {device}: {len(dataset)} images, {len(loader)} steps an epoch, "
          f"{options.workers} workers", flush=True)
    start = time.perf_counter()
    seen = 0
    for epoch in range(1, options.epochs + 1):
        loss, accuracy, count = train_epoch(model, optimizer, loader, device)
        seen += count
        print(f"epoch {epoch}/{options.epochs} loss {loss:.4f} ({loss.hex()}) "
              f"accuracy {accuracy:.3f}", flush=True)
    seconds = time.perf_counter() - start
    print(f"weights {weights_digest(model)}")
    print(f"trained {seen} images in {seconds:.3f} s ({seen / seconds:.0f} images/s)",
          file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
