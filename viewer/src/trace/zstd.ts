// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One zstd frame to its content. The frame's own header is checked first, so that no more memory is
// taken than the block's header says.

import { TraceFault } from "./fault";
import { FrameDecoder } from "./zstd_decode";

const MAGIC = 0xfd2fb528;
export const MOST_RAW = 64 << 20;
const MOST_BLOCK = 128 << 10;
const CHECKSUM = 4;

interface FrameHead {
  readonly bytes: number;
  readonly content: number;
  readonly hasChecksum: boolean;
}

function readHead(frame: Uint8Array): FrameHead {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.length < 6 || view.getUint32(0, true) !== MAGIC) throw new TraceFault("no zstd frame");
  const flags = view.getUint8(4);
  const isSingle = (flags & 0x20) !== 0;
  const sizeCode = flags >> 6;
  if ((flags & 3) !== 0 || (flags & 8) !== 0) throw new TraceFault("a zstd frame of another kind");
  const sizeBytes = sizeCode === 0 ? (isSingle ? 1 : 0) : 1 << sizeCode;
  const at = isSingle ? 5 : 6;
  if (frame.length < at + sizeBytes) throw new TraceFault("a zstd frame is cut");
  let content = 0;
  for (let i = sizeBytes - 1; i >= 0; i--) content = content * 256 + view.getUint8(at + i);
  if (sizeCode === 1) content += 256;
  if (sizeBytes === 0) throw new TraceFault("a zstd frame without its size");
  return { bytes: at + sizeBytes, content, hasChecksum: (flags & 4) !== 0 };
}

/** Checks that the frame's blocks end where the frame ends, and make no more than they may. */
function checkBlocks(frame: Uint8Array, head: FrameHead): void {
  let at = head.bytes;
  let plain = 0;
  for (;;) {
    if (at + 3 > frame.length) throw new TraceFault("a zstd frame is cut");
    const word =
      (frame[at] as number) | ((frame[at + 1] as number) << 8) | ((frame[at + 2] as number) << 16);
    const type = (word >> 1) & 3;
    const size = word >> 3;
    if (type === 3 || size > MOST_BLOCK) throw new TraceFault("a zstd block makes no sense");
    if (type !== 2) plain += size;
    at += 3 + (type === 1 ? 1 : size);
    if ((word & 1) === 1) break;
  }
  if (at + (head.hasChecksum ? CHECKSUM : 0) !== frame.length)
    throw new TraceFault("a zstd frame has another length than its block");
  if (plain > head.content) throw new TraceFault("a zstd frame makes more than it says");
}

const decoder = new FrameDecoder();

/** Decompresses one frame whose content has `raw` bytes. */
export function decompressFrame(frame: Uint8Array, raw: number): Uint8Array {
  if (raw > MOST_RAW) throw new TraceFault("a block of more bytes than one may have");
  const head = readHead(frame);
  if (head.content !== raw) throw new TraceFault("compressed block is not what its header says");
  return contentOf(frame, head);
}

/** Decompresses one frame of any content up to `most` bytes: the frame says how many it has. */
export function decompressText(frame: Uint8Array, most: number): string {
  const head = readHead(frame);
  if (head.content > most) throw new TraceFault("a result of more bytes than a page can hold");
  return new TextDecoder().decode(contentOf(frame, head));
}

function contentOf(frame: Uint8Array, head: FrameHead): Uint8Array {
  checkBlocks(frame, head);
  const out = new Uint8Array(head.content);
  decoder.decode(frame, head.bytes, out);
  return out;
}
